import { BuildFailure } from '../build-failure.ts';
import { satisfies } from './node-range.ts';

interface Wishes {
  /** `engines` of package.json. */
  readonly engines: unknown;
  /** `node_version` of the configuration. */
  readonly node_version: string | undefined;
}

/**
 * Compares the Node version that will run the graphs with the one the project requires. Returns warnings; throws if
 * `engines.node` excludes it, or if it is older than `node_version`.
 */
export function checkNodeVersion({ engines, node_version }: Wishes, version = process.version): string[] {
  const range = (engines as { node?: unknown } | undefined)?.node;
  const warnings: string[] = [];
  if (typeof range === 'string') {
    const isMet = satisfies(version, range);
    if (isMet === false) throw unmet(`package.json requires Node ${range}`, version);
    if (isMet === undefined)
      warnings.push(
        `engines.node of package.json is not a valid range and is ignored: ${range.slice(0, 100)}`,
      );
  }
  const wanted = Number.parseInt(node_version ?? '', 10);
  const major = Number.parseInt(version.slice(1), 10);
  if (wanted > major) throw unmet(`The configuration asks for Node ${node_version}`, version);
  if (wanted < major)
    warnings.push(`The configuration asks for Node ${node_version}, but the project will run on ${version}.`);
  return warnings;
}

function unmet(requirement: string, version: string): BuildFailure {
  return new BuildFailure('config', {
    code: 'engines_not_met',
    message: `${requirement}, but this server runs graphs with ${version}.`,
    hint: 'Change the Node version in the project, or have the operator run the server with that version.',
  });
}

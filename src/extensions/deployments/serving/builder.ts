import { basename, dirname, relative } from 'node:path';
import { processEnvironment } from '../../../config/env.ts';
import type { Config } from '../../../config/schema.ts';
import type { Clock } from '../../../core/clock.ts';
import { isStorageFailure } from '../../../core/failure-class.ts';
import { rangeOf } from '../../../core/ip-ranges.ts';
import { webhookPolicy } from '../../../services/webhooks/webhook-policy.ts';
import { literalAddress } from '../../../services/webhooks/webhook-url.ts';
import type { Apps } from '../../extension.ts';
import type { BuildFailure } from '../build/build-failure.ts';
import type { CheckAddress, Isolation } from '../build/request.ts';
import { deploymentSettings } from '../section.ts';
import { type BuildRevision, RevisionError } from '../services/builder.ts';
import type { ResolveRef } from '../services/repository.ts';

const MB = 1024 ** 2;
/** Processes and threads of a build at the same time: enough for any package manager, and no fork bomb. */
const MAX_BUILD_TASKS = 2048;
/** Timeout of the DNS lookup of a repository's host, ms. */
const DNS_TIMEOUT_MS = 30_000;

/** Log line for each isolation of a build. */
const ISOLATION: Readonly<Record<Isolation, string>> = {
  bwrap: 'The build ran in namespaces of its own (bubblewrap)',
  user: 'The build ran as a user of its own',
  none: 'The build ran with the permissions of the server: install bubblewrap to isolate builds',
};

type ResolveHost = Pick<Apps, 'resolveHost'>;

/** Builds revisions with git and the package manager of the project, in processes with limits. */
export function openBuilder(
  config: Config,
  { clock, resolveHost }: ResolveHost & { clock: Clock },
): BuildRevision {
  const rules = deploymentSettings(config);
  const checkAddress = addressCheck(config, resolveHost);
  const checkEgress = egressCheck(checkAddress, processEnvironment());
  return async ({ source, log, onStep, signal, ...request }) => {
    // Imported on the first build.
    const { BuildFailure, buildRevision } = await import('../build/source.ts');
    try {
      const built = await buildRevision({
        ...request,
        source: source.kind === 'git' ? { ...source, ref: source.ref ?? 'HEAD' } : source,
        ...{ checkAddress, checkEgress, clock, log, signal },
        // Everything else in this folder is protected by its own mode, so builds may run as another user.
        open_from: rules.folder,
        allow_file_urls: rules.allow_local_sources,
        ignore_scripts: rules.ignore_scripts,
        limits: {
          seconds: rules.build_timeout_seconds,
          memory_bytes: rules.max_build_memory_mb * MB,
          disk_bytes: rules.max_build_disk_mb * MB,
          tasks: MAX_BUILD_TASKS,
        },
        env: { ...processEnvironment() },
        onStep: ({ name, status }) => {
          if (status === 'running') onStep(name);
        },
      });
      const { isolation: filesystem, network } = built;
      const isolation = `${ISOLATION[filesystem]}${network === 'proxy' ? ', and reached public addresses only' : ', in the network of the server'}.`;
      log({ step: 'build', level: 'INFO', message: isolation });
      return {
        commit: built.commit,
        root: relative(request.folder, dirname(built.config_file)),
        config_file: basename(built.config_file),
        isolation,
        isolated: { filesystem, network },
      };
    } catch (error) {
      if (!(error instanceof BuildFailure)) throw error;
      // Not the project's failure: what the build reported could not be stored.
      throw isStorageFailure(error.cause) ? error.cause : revisionError(error);
    }
  };
}

/**
 * Resolves refs of repositories as builds do, in processes with limits. `scratch`: folder for temporary files of git.
 */
export function openResolver(
  config: Config,
  { scratch, resolveHost }: ResolveHost & { scratch: () => Promise<string> },
): ResolveRef {
  const checkAddress = addressCheck(config, resolveHost);
  return async ({ url, ref, credentials, signal }) => {
    // Imported on the first lookup.
    const { BuildFailure, resolveRef } = await import('../build/source.ts');
    try {
      const found = await resolveRef({
        source: { kind: 'git', url, ref, credentials },
        allow_file_urls: deploymentSettings(config).allow_local_sources,
        env: { ...processEnvironment() },
        scratch: await scratch(),
        ...{ checkAddress, signal },
      });
      return {
        sha: found.sha,
        known_hosts: credentials?.kind === 'deploy_key' ? found.known_hosts : undefined,
      };
    } catch (error) {
      throw error instanceof BuildFailure ? revisionError(error) : error;
    }
  };
}

function revisionError(failure: BuildFailure): RevisionError {
  const { step, code, message, hint } = failure;
  return new RevisionError(step, code, `${message} ${hint}`, { cause: failure });
}

/**
 * Permits the addresses that webhooks may call too. Returns the checked address: the name may resolve to another one a
 * moment later.
 */
function addressCheck({ webhooks: { url } }: Config, resolveHost: Apps['resolveHost']) {
  const anyDomain = { allowed_domains: [], allowed_ports: [] };
  const rules = { ...url, ...anyDomain, https: 'never', has_own_routes: false } as const;
  const policy = webhookPolicy(rules, resolveHost);
  return async ({ hostname }: URL): Promise<string> => {
    const literal = literalAddress(hostname);
    const addresses = literal ? [literal] : await resolveHost(hostname, DNS_TIMEOUT_MS);
    for (const address of addresses) {
      if (policy.blockedReason(hostname, address) === undefined) continue;
      throw new Error(`${hostname} is in a private network, which only webhooks.url.allow_private allows`);
    }
    const [first] = addresses;
    if (first === undefined) throw new Error(`${hostname} has no address`);
    return first;
  };
}

/** Also permits the registry that the operator has set for package managers, wherever it is. */
function egressCheck(checkAddress: CheckAddress, env: NodeJS.ProcessEnv): CheckAddress {
  const registry = URL.parse(env['npm_config_registry'] ?? env['NPM_CONFIG_REGISTRY'] ?? '');
  const port = registry && (registry.port || (registry.protocol === 'http:' ? '80' : '443'));
  return async (url) => {
    if (registry && url.hostname === registry.hostname && (url.port || '443') === port) return undefined;
    const address = await checkAddress(url);
    // Never the server itself, even if webhooks may call this machine.
    if (typeof address !== 'string' || rangeOf(address) === 'loopback')
      throw new Error(`${url.hostname} is this machine`);
    return address;
  };
}

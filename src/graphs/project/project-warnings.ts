import { readFileSync } from 'node:fs';
import { dirname, extname, join, relative, resolve } from 'node:path';
import { tryOrUndefined } from '../../core/failure.ts';
import { PACKAGE_ROOT } from '../../core/package-files.ts';
import type { GraphSpec } from './configured-graphs.ts';
import { readTsconfig } from './tsconfig.ts';
import { installedLanggraph } from './user-module.ts';

/** A project as far as it is known before anything is loaded. */
export interface ProjectPlace {
  /** The folder of the configuration. */
  readonly root: string;
  readonly graphs: readonly GraphSpec[];
}

/**
 * What may surprise about the installation of a project, although its graphs may load: LangGraph.js of an unsupported
 * version, and configurations of TypeScript that are not installed. One line each, with paths relative to the project.
 */
export async function projectWarnings({ root, graphs }: ProjectPlace): Promise<string[]> {
  const files = graphs.map(({ path }) => resolve(root, path));
  const folders = new Set([...files.map((file) => dirname(file)), ...(files.length > 0 ? [] : [root])]);
  const typed = new Set(files.filter((file) => TYPESCRIPT.has(extname(file))).map((file) => dirname(file)));
  const versions = await Promise.all([...folders].map((folder) => unsupportedLanggraph(folder, root)));
  const lines = [...versions, ...[...typed].map((folder) => missingTsconfigs(folder, root))];
  return [...new Set(lines.filter((line) => line !== undefined))];
}

const TYPESCRIPT = new Set(['.ts', '.tsx', '.mts', '.cts']);

function missingTsconfigs(folder: string, root: string): string | undefined {
  // A file that cannot be read is reported by the graph that needs its paths.
  const config = tryOrUndefined(() => readTsconfig(folder));
  if (config === undefined || config.missing.length === 0) return undefined;
  const names = config.missing.map((name) => `'${name}'`).join(' and ');
  return `${relative(root, config.file)} extends ${names}, which is not installed; graphs load without it`;
}

/** Of the package's `peerDependencies`, such as `>=1.4.18 <2`. */
function supportedRange(): string {
  const { peerDependencies } = JSON.parse(readFileSync(join(PACKAGE_ROOT, 'package.json'), 'utf8'));
  return peerDependencies['@langchain/langgraph'];
}

async function unsupportedLanggraph(folder: string, root: string): Promise<string | undefined> {
  const installed = await installedLanggraph(folder);
  const range = supportedRange();
  if (installed === undefined || isWithin(installed.version, range)) return undefined;
  const place = relative(root, installed.folder);
  return (
    `LangGraph.js ${installed.version} in ${place} is not supported, and some requests will fail: ` +
    `this server requires ${range}. Update it with npm install @langchain/langgraph@latest`
  );
}

/** `range`: `>=lowest <next`. A prerelease counts as its release. */
function isWithin(version: string, range: string): boolean {
  const [lowest, next] = range.split(' ').map((bound) => bound.replace(/^[<>=]+/, ''));
  return compare(version, String(lowest)) >= 0 && compare(version, String(next)) < 0;
}

function compare(a: string, b: string): number {
  const [left, right] = [a, b].map((version) => version.split(/[.+-]/, 3).map(Number));
  return [0, 1, 2].map((at) => (left?.[at] ?? 0) - (right?.[at] ?? 0)).find((each) => each !== 0) ?? 0;
}

import { readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { tryOrUndefined } from '../../core/failure.ts';
import { isObject, type JsonObject } from '../../core/json.ts';

/** What a project's modules need of a tsconfig.json: where imports lead. */
export interface TsconfigPaths {
  readonly file: string;
  /** Absolute. */
  readonly base_url: string | undefined;
  /** Absolute targets by pattern. */
  readonly paths: Readonly<Record<string, readonly string[]>> | undefined;
  /** Configurations that it extends, itself or through others, and that are not installed. */
  readonly missing: readonly string[];
}

/**
 * Reads the nearest tsconfig.json of a folder and what it extends, and skips what does not exist: in an installation
 * without development dependencies, a base configuration is usually one of them. `undefined` without a tsconfig.json.
 */
export function readTsconfig(folder: string): TsconfigPaths | undefined {
  const file = nearest(folder);
  return file === undefined ? undefined : read(file, new Set());
}

function nearest(folder: string): string | undefined {
  const file = join(folder, 'tsconfig.json');
  if (isFile(file)) return file;
  return dirname(folder) === folder ? undefined : nearest(dirname(folder));
}

function read(file: string, seen: Set<string>): TsconfigPaths {
  seen.add(file);
  const { extends: bases = [], compilerOptions } = parse(file);
  const options = isObject(compilerOptions) ? compilerOptions : {};
  const missing: string[] = [];
  const inherited: TsconfigPaths[] = [];
  for (const base of [bases].flat().map(String)) {
    const found = find(base, file);
    if (found === undefined) missing.push(base);
    else if (!seen.has(found)) inherited.push(read(found, seen));
  }
  const own_base =
    typeof options['baseUrl'] === 'string' ? resolve(dirname(file), options['baseUrl']) : undefined;
  const base_url = own_base ?? inherited.findLast((each) => each.base_url !== undefined)?.base_url;
  const own_paths = absolutePaths(options['paths'], base_url ?? dirname(file));
  return {
    ...{ file, base_url },
    paths: own_paths ?? inherited.findLast(({ paths }) => paths !== undefined)?.paths,
    missing: [...missing, ...inherited.flatMap((each) => each.missing)],
  };
}

function absolutePaths(paths: unknown, base: string): TsconfigPaths['paths'] {
  if (!isObject(paths)) return undefined;
  const targets = (value: unknown) => [value].flat().map((target) => resolve(base, String(target)));
  return Object.fromEntries(Object.entries(paths).map(([pattern, value]) => [pattern, targets(value)]));
}

/** The file that an `extends` names: a path, or a package, whose file may be exported or not. */
function find(base: string, from: string): string | undefined {
  const names = [base, `${base}.json`, `${base}/tsconfig.json`];
  if (/^(?:\.|\/|[A-Za-z]:)/.test(base))
    return names.map((name) => resolve(dirname(from), name)).find(isFile);
  const require = createRequire(from);
  const folders = require.resolve.paths(base) ?? [];
  return (
    folders.flatMap((folder) => names.map((name) => join(folder, name))).find(isFile) ??
    names.map((name) => tryOrUndefined(() => require.resolve(name))).find((file) => file?.endsWith('.json'))
  );
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

// What has no end is matched too, so that no text is searched twice.
const COMMENTS = /"(?:[^"\\\n]|\\.)*"?|\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g;
const TRAILING_COMMAS = /"(?:[^"\\\n]|\\.)*"?|,(?=\s*[}\]])/g;

/** JSON with comments and trailing commas; `{}` for text that is not even that. */
function parse(file: string): JsonObject {
  const dropUnlessString = (token: string) => (token.startsWith('"') ? token : '');
  const text = readFileSync(file, 'utf8').replace(/^\uFEFF/, '');
  const json = text.replace(COMMENTS, dropUnlessString).replace(TRAILING_COMMAS, dropUnlessString);
  const parsed: unknown = tryOrUndefined(() => JSON.parse(json));
  return isObject(parsed) ? parsed : {};
}

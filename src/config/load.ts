import { basename, dirname, resolve } from 'node:path';
import { isObject, type JsonObject } from '../core/json.ts';
import { ALL_VARIABLES, ConfigFile, servesWithoutGraphs } from './config-file.ts';
import { type Environment, processEnvironment, withVariables } from './env.ts';
import { ConfigError, ConfigIssues } from './errors.ts';
import { envFilePath, findConfigFile, isTooDeep, readConfigFile, readEnvFile, TOO_DEEP } from './files.ts';
import { ignoredKeys, withHeaderLists, withoutBuildKeys } from './langgraph-json.ts';
import { configKeys } from './reference.ts';
import type { Config, ConfigValues, GraphSpec } from './schema.ts';
import { unknownGraphs } from './sections/graphs.ts';
import { httpsRule, Webhooks } from './sections/runs.ts';
import { substitute, substituteHeaders } from './substitute.ts';

export interface ConfigSources {
  /** Folder in which the file is searched. */
  readonly cwd: string;
  /** From `--config`. */
  readonly file?: string | undefined;
  /** Flag values by configuration key; undefined if not given. */
  readonly flags?: Readonly<Record<string, string | undefined>>;
  /** Values of keys that nothing else sets, instead of their defaults. */
  readonly defaults?: Readonly<Record<string, string>> | undefined;
  /** Defaults to the process environment. */
  readonly environment?: Environment;
}

export interface LoadedConfig {
  readonly config: Config;
  /** Warnings to print once: accepted keys that have no effect. */
  readonly warnings: readonly string[];
  /** Files to watch: the configuration and `.env`, whether they exist or not. */
  readonly files: readonly string[];
}

/**
 * Loads the configuration: flags over environment over file over defaults, frozen. Throws a `ConfigError`
 * with all problems.
 */
export async function loadConfig(sources: ConfigSources): Promise<LoadedConfig> {
  const file = await findConfigFile(sources.cwd, sources.file);
  const root = file === undefined ? resolve(sources.cwd) : dirname(file);
  const problems = new ConfigIssues(file === undefined ? 'configuration' : basename(file));
  const { document, variables, warnings, dotenv } = await readSources(sources, file, root, problems);
  if (file === undefined && document['graphs'] === undefined && !servesWithoutGraphs(document)) {
    throw new ConfigError([
      `no configuration: ${root} has neither agent.config.yaml nor langgraph.json; name a file with --config`,
    ]);
  }
  const parsed = ConfigFile.safeParse(document);
  if (!parsed.success) problems.addIssues(parsed.error.issues);
  const { assistants = {}, graphs = {} } = parsed.data ?? {};
  for (const { key, what } of unknownGraphs(assistants, graphs)) problems.add(key, what);
  if (!parsed.success || problems.lines.length > 0) throw new ConfigError(problems.lines);
  return {
    config: deepFreeze(toConfig(parsed.data, { env: variables, root, file })),
    warnings: [...warnings, ...unsupportedKeys(document)],
    files: [file, dotenv].filter((path) => path !== undefined),
  };
}

/** Merges file, environment and flags into the document for the schema. */
async function readSources(
  sources: ConfigSources,
  file: string | undefined,
  root: string,
  problems: ConfigIssues,
) {
  const environment = sources.environment ?? processEnvironment();
  const missing = (key: string, name: string) => problems.add(key, `the variable ${name} is not set`);
  const warnings: string[] = [];
  const read = file === undefined ? {} : await readConfigFile(file);
  const ignored = file?.endsWith('.json') ? ignoredKeys(read) : [];
  if (file !== undefined && ignored.length > 0) warnings.push(ignoredNote(basename(file), ignored));
  const { env, ...written } = withoutBuildKeys(without(read, ignored));

  // First, because `${VAR}` in the other keys may refer to these variables.
  const envKey = substitute(env, environment, missing, 'env');
  const variables = await readEnvFile(envKey, root, (line) => warnings.push(line));
  const known = withVariables(environment, variables);

  const document = substitute(written, known, missing) as JsonObject;
  if (envKey != null) document['env'] = envKey;
  applyVariables(document, known, problems);
  if (isObject(document['http'])) document['http'] = withHeaderLists(document['http']);
  applyFlags(document, sources.flags ?? {}, problems);
  for (const [key, value] of Object.entries(sources.defaults ?? {}))
    if (valueAt(document, key) === undefined) setKey(document, key, value);
  substituteHeaders(document, known, problems);
  return { document, variables, warnings, dotenv: envFilePath(envKey, root) };
}

function ignoredNote(file: string, keys: readonly string[]): string {
  return `${file}: no server reads ${keys.join(', ')}: ${keys.length === 1 ? 'this key has' : 'these keys have'} no effect`;
}

function without(document: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(document).filter(([key]) => !keys.includes(key)));
}

function toConfig(
  { graphs, env: _, storage, webhooks, ...values }: ConfigValues,
  place: Pick<Config, 'env' | 'root' | 'file'>,
): Config {
  return {
    ...values,
    storage: { ...storage, url: absoluteUrl(storage, place.root) },
    webhooks: { ...(webhooks ?? Webhooks.parse({})), https: httpsRule(webhooks) },
    assistants: values.assistants ?? {},
    graphs: Object.entries(graphs).map(([graph_id, graph]) => graphSpec(graph_id, graph)),
    ...place,
  };
}

function graphSpec(graph_id: string, graph: ConfigValues['graphs'][string]): GraphSpec {
  const { path, description = null } = typeof graph === 'string' ? { path: graph } : graph;
  const colon = path.lastIndexOf(':');
  return { graph_id, path: path.slice(0, colon), export: path.slice(colon + 1), description };
}

/** A relative SQLite path is resolved against `root`, so that the working folder does not matter. */
function absoluteUrl({ url, folder = '' }: ConfigValues['storage'], root: string): string {
  const path = /^sqlite:(?!:memory:)(.+)$/.exec(url)?.[1];
  return path === undefined ? url : `sqlite:${resolve(root, folder, path)}`;
}

function unsupportedKeys(document: JsonObject): string[] {
  return configKeys()
    .filter(({ key, pending }) => pending && valueAt(document, key) !== undefined)
    .map(({ key }) => `${key}: not supported yet; the key has no effect`);
}

function valueAt(document: JsonObject, key: string): unknown {
  return key
    .split('.')
    .reduce<unknown>((value, name) => (isObject(value) ? value[name] : undefined), document);
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const inner of Object.values(value)) deepFreeze(inner);
    Object.freeze(value);
  }
  return value;
}

/** Applies the known variables to the document. An empty variable counts as unset. */
function applyVariables(document: JsonObject, environment: Environment, problems: ConfigIssues): void {
  for (const { name, key, json } of ALL_VARIABLES) {
    const value = environment[name];
    if (!value) continue;
    problems.recordSource(key, name);
    if (!json) {
      setKey(document, key, value);
      continue;
    }
    try {
      const parsed: unknown = JSON.parse(value);
      if (isTooDeep(parsed)) problems.add(key, TOO_DEEP);
      else setKey(document, key, parsed);
    } catch {
      problems.add(key, 'is not valid JSON');
    }
  }
}

/** Applies flags last; the flag's name is the last segment of its key. */
function applyFlags(
  document: JsonObject,
  flags: Readonly<Record<string, string | undefined>>,
  problems: ConfigIssues,
): void {
  for (const [key, value] of Object.entries(flags)) {
    if (value === undefined) continue;
    problems.recordSource(key, `--${key.slice(key.lastIndexOf('.') + 1)}`);
    setKey(document, key, value);
  }
}

/** Sets a dotted key, creating blocks on the way; the schema reports a block that is not a map. */
function setKey(document: JsonObject, key: string, value: unknown): void {
  const names = key.split('.');
  const last = names.pop() as string;
  let block: JsonObject = document;
  for (const name of names) {
    block[name] ??= {};
    const next = block[name];
    if (!isObject(next)) return;
    block = next;
  }
  block[last] = value;
}

import { basename, dirname, resolve } from 'node:path';
import { isObject, type JsonObject } from '../core/json.ts';
import { type Environment, processEnvironment, VARIABLES } from './env.ts';
import { ConfigError, ConfigIssues } from './errors.ts';
import { envFilePath, findConfigFile, readConfigFile, readEnvFile } from './files.ts';
import { fromLanggraphJson } from './langgraph-json.ts';
import { configKeys } from './reference.ts';
import { type Config, ConfigFile, type ConfigValues, type GraphSpec } from './schema.ts';
import { unknownGraphs } from './sections/graphs.ts';
import { httpsRule, Webhooks } from './sections/runs.ts';
import { substitute, substituteHeaders } from './substitute.ts';

export interface ConfigSources {
  /** Folder the file is looked for in. */
  readonly cwd: string;
  /** From `--config`. */
  readonly file?: string | undefined;
  /** Values of flags by the key they set; undefined is a flag that was not given. */
  readonly flags?: Readonly<Record<string, string | undefined>>;
  /** Instead of the program's own. */
  readonly environment?: Environment;
}

export interface LoadedConfig {
  readonly config: Config;
  /** Lines to show once: what is accepted but has no effect. */
  readonly warnings: readonly string[];
  /** What it was read from, the `.env` file included, whether it exists or not. */
  readonly files: readonly string[];
}

/**
 * Flags over environment over file over defaults, as one frozen value (DESIGN §2). Throws a `ConfigError` that
 * holds every problem at once.
 */
export async function loadConfig(sources: ConfigSources): Promise<LoadedConfig> {
  const file = await findConfigFile(sources.cwd, sources.file);
  const root = file === undefined ? resolve(sources.cwd) : dirname(file);
  const problems = new ConfigIssues(file === undefined ? 'configuration' : basename(file));
  const { document, variables, warnings, dotenv } = await readSources(sources, file, root, problems);
  if (file === undefined && document['graphs'] === undefined) {
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

/** The document as the schema shall see it: file, then environment, then flags. */
async function readSources(
  sources: ConfigSources,
  file: string | undefined,
  root: string,
  problems: ConfigIssues,
) {
  const environment = sources.environment ?? processEnvironment();
  const missing = (key: string, name: string) => problems.add(key, `the variable ${name} is not set`);
  const warnings: string[] = [];
  const { env, ...written } = fromLanggraphJson(file === undefined ? {} : await readConfigFile(file));

  // Before everything else, because ${VAR} in the other keys sees these variables too.
  const envKey = substitute(env, environment, missing, 'env');
  const variables = await readEnvFile(envKey, root, (line) => warnings.push(line));
  const known = { ...variables, ...environment };

  const document = substitute(written, known, missing) as JsonObject;
  if (envKey != null) document['env'] = envKey;
  applyVariables(document, known, problems);
  applyFlags(document, sources.flags ?? {}, problems);
  substituteHeaders(document, known, problems);
  return { document, variables, warnings, dotenv: envFilePath(envKey, root) };
}

function toConfig(
  { graphs, env: _, storage, webhooks, ...values }: ConfigValues,
  place: Pick<Config, 'env' | 'root' | 'file'>,
): Config {
  return {
    server: values.server,
    storage: { ...storage, url: absoluteUrl(storage, place.root) },
    encryption: values.encryption,
    runs: values.runs,
    crons: values.crons,
    http: values.http,
    log: values.log,
    checkpointer: values.checkpointer,
    auth: values.auth,
    webhooks: { ...(webhooks ?? Webhooks.parse({})), https: httpsRule(webhooks) },
    store: values.store,
    assistants: values.assistants ?? {},
    ui: values.ui ?? {},
    ui_config: values.ui_config,
    mcp: values.mcp,
    graphs: Object.entries(graphs).map(([graph_id, graph]) => graphSpec(graph_id, graph)),
    ...place,
  };
}

function graphSpec(graph_id: string, graph: ConfigValues['graphs'][string]): GraphSpec {
  const { path, description = null } = typeof graph === 'string' ? { path: graph } : graph;
  const colon = path.lastIndexOf(':');
  return { graph_id, path: path.slice(0, colon), export: path.slice(colon + 1), description };
}

/** A SQLite file does not depend on the working folder, so that the same data is found from every one. */
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

/** Puts the known variables over what the file says. An empty variable counts as not set. */
function applyVariables(document: JsonObject, environment: Environment, problems: ConfigIssues): void {
  for (const { name, key, json } of VARIABLES) {
    const value = environment[name];
    if (!value) continue;
    problems.recordSource(key, name);
    if (!json) {
      setKey(document, key, value);
      continue;
    }
    try {
      setKey(document, key, JSON.parse(value));
    } catch {
      problems.add(key, 'is not valid JSON');
    }
  }
}

/** Puts given flags over everything else; the name of a flag is the last word of the key it sets. */
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

/** Sets a key with dots and makes the blocks on the way; a block that is no map is left for the schema to refuse. */
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

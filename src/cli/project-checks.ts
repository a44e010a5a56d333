import { projectCode } from '../app/extensions.ts';
import { ConfigError } from '../config/errors.ts';
import type { Config } from '../config/schema.ts';
import { systemClock } from '../core/clock.ts';
import { silentLogger } from '../core/logger.ts';
import type { GraphRegistry } from '../graphs/graph.ts';

/** Result of checking one part of the project. */
export interface CheckResult {
  readonly name: string;
  /** As written in the configuration. */
  readonly file: string;
  readonly error: Error | undefined;
  /** A hint that is not an error. */
  readonly note?: string | undefined;
}

export interface CheckOptions {
  /** Whether functions that create a graph are called, as the first run would call them. */
  readonly callFactories: boolean;
}

/** Loads everything that a server would load, in the same way. */
export async function checkProject(config: Config, options: CheckOptions): Promise<CheckResult[]> {
  return [
    ...(await checkGraphs(config, options)),
    ...(await checkCustomCode(config)),
    ...(await checkExtensions(config)),
    ...(await checkEmbedder(config)),
    ...(await checkEncryption(config)),
  ];
}

async function checkGraphs(config: Config, { callFactories }: CheckOptions): Promise<CheckResult[]> {
  const { loadGraphs } = await import('../graphs/runtime/load-graphs.ts');
  const graphs = await loadGraphs(config.graphs, { root: config.root, logger: silentLogger });
  const errors = graphs.loadErrors();
  const replaced = graphs.overriddenMemory();
  const checked: CheckResult[] = [];
  for (const { graph_id, path, export: name } of config.graphs) {
    checked.push({
      name: graph_id,
      file: `${path}:${name}`,
      error: errors.get(graph_id) ?? (callFactories ? await creationError(graphs, graph_id) : undefined),
      note: replaced.has(graph_id) ? ignoredPersistenceNote(replaced.get(graph_id) as string[]) : undefined,
    });
  }
  return checked;
}

/** Why a run without configuration would not get its graph. Only a factory can fail here. */
function creationError(graphs: GraphRegistry, graph_id: string): Promise<Error | undefined> {
  return rejectionOf(graphs.get(graph_id, { configurable: {} }, 'threads.create_run', {}));
}

/** `names`: the persistence that the graph was compiled with. */
export function ignoredPersistenceNote(names: readonly string[]): string {
  return `its own ${names.join(' and ')} ${names.length === 1 ? 'is' : 'are'} not used: the server keeps threads and store itself`;
}

async function checkCustomCode(config: Config): Promise<CheckResult[]> {
  const { openCustomAuth } = await import('../app/auth.ts');
  const { openCustomApp } = await import('../app/custom-app.ts');
  const parts: [string, string | undefined, () => Promise<unknown>][] = [
    ['auth.path', config.auth.path, () => openCustomAuth(config, systemClock)],
    ['http.app', config.http.app, () => openCustomApp(config)],
  ];
  const checked: CheckResult[] = [];
  for (const [name, file, open] of parts) {
    if (file !== undefined) checked.push({ name, file, error: await rejectionOf(open()) });
  }
  return checked;
}

async function checkExtensions(config: Config): Promise<CheckResult[]> {
  const checks = projectCode(config).map(async ({ name, file, load }) => {
    return { name, file, error: await rejectionOf(load()) };
  });
  return await Promise.all(checks);
}

async function checkEmbedder({ store: { index }, root }: Config): Promise<CheckResult[]> {
  if (!index) return [];
  const { loadEmbedder } = await import('../graphs/store/embedder.ts');
  return [
    { name: 'store.index', file: index.embed, error: await rejectionOf(loadEmbedder({ ...index, root })) },
  ];
}

async function checkEncryption(config: Config): Promise<CheckResult[]> {
  const { openEncryptor } = await import('../app/encryption.ts');
  const opening = openEncryptor(config);
  const error = await rejectionOf(opening);
  const encryptor = error ? undefined : await opening;
  if (!error && !encryptor) return [];
  // The key id is not secret: it is in every encrypted value, and shows whether two servers share a key.
  const file = config.encryption.path ?? `AES-256-GCM, key ${encryptor?.key_id}`;
  return [{ name: 'encryption', file, error }];
}

/** The error without its place in the configuration, which the row already names. */
async function rejectionOf(loading: Promise<unknown>): Promise<Error | undefined> {
  try {
    await loading;
    return undefined;
  } catch (error) {
    const { cause } = error as Error;
    return error instanceof ConfigError && cause instanceof Error ? cause : (error as Error);
  }
}

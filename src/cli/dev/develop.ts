import { relative, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { projectCode } from '../../app/extensions.ts';
import { isChildOfNpm } from '../../config/env.ts';
import { ConfigError } from '../../config/errors.ts';
import type { LoadedConfig } from '../../config/load.ts';
import type { Logger } from '../../core/logger.ts';
import { every } from '../../core/timers.ts';
import { endRequest, StartFailure } from '../../node.ts';
import type { FlagValues } from '../command.ts';
import { DEVELOPING_DEFAULTS, loadConfigFor } from '../config.ts';
import { FileWatcher, importedFiles } from './file-watcher.ts';
import { DevProxy } from './proxy.ts';
import { DevSupervisor } from './supervisor.ts';

/**
 * Serves the project and restarts after every change, until stopped. While the configuration is invalid, the last valid
 * server keeps running.
 */
export async function develop(flags: FlagValues, first: LoadedConfig, logger: Logger): Promise<number> {
  using parent = parentWatch();
  using end = endRequest(parent.exited);
  using proxy = new DevProxy();
  await proxy.listenAt(first.config.server);
  await using servers = new DevSupervisor({ flags, root: first.config.root }, proxy, logger);
  using watcher = new FileWatcher();
  await servers.restart();
  for (let known = first; ; ) {
    const ofServer = await serverFiles(known);
    watcher.watch([...ofServer, ...(await hostFiles(known))]);
    const changed = await Promise.race([watcher.next(), end.requested]);
    if (typeof changed !== 'string') return 0;
    logger.info('changed, reloading', { file: relative(process.cwd(), changed) });
    const loaded = await reload(flags, proxy, logger);
    if (loaded === undefined) continue;
    const isCode = !ofServer.includes(changed) && isDeepStrictEqual(loaded.config, known.config);
    known = loaded;
    await (isCode ? servers.reload() : servers.restart());
  }
}

const PARENT_POLL_MS = 1000;

/** npm does not forward signals through its shell: if the parent exits, nothing else would stop this process. */
function parentWatch(): Disposable & { readonly exited: AbortSignal } {
  const exited = new AbortController();
  const parent = process.ppid;
  const look = () => process.ppid !== parent && exited.abort();
  const timer = isChildOfNpm() ? every(PARENT_POLL_MS, look) : undefined;
  return { exited: exited.signal, [Symbol.dispose]: () => timer?.[Symbol.dispose]() };
}

/** Returns `undefined` after logging the error if the configuration is invalid or the port is taken. */
async function reload(flags: FlagValues, proxy: DevProxy, logger: Logger): Promise<LoadedConfig | undefined> {
  try {
    const loaded = await loadConfigFor(flags, DEVELOPING_DEFAULTS);
    await proxy.listenAt(loaded.config.server);
    return loaded;
  } catch (error) {
    if (!(error instanceof ConfigError || error instanceof StartFailure)) throw error;
    for (const line of error.message.split('\n')) logger.error(line);
    logger.error('the server keeps the previous configuration until this is fixed');
    return undefined;
  }
}

/** What a reload of the graph hosts does not read: the configuration files and the project's encryption. */
async function serverFiles({ config, files }: LoadedConfig): Promise<string[]> {
  return [...files, ...(await filesOf([config.encryption.path], config.root))];
}

/** Project files that the graph hosts load. */
async function hostFiles({ config }: LoadedConfig): Promise<ReadonlySet<string>> {
  const { auth, graphs, http, store } = config;
  const ofGraphs = graphs.map(({ path, export: name }) => `${path}:${name}`);
  // An embedder may also be one of a provider, such as `openai:text-embedding-3-small`.
  const ofExtensions = projectCode(config).flatMap((code) => (code.needs_restart ? [code.file] : []));
  const exports = [...ofGraphs, auth.path, http.app, store.index?.embed, ...ofExtensions];
  return await filesOf(exports, config.root);
}

/** The files of exports, given as `path:export`, and what they import. */
async function filesOf(exports: readonly (string | undefined)[], root: string): Promise<ReadonlySet<string>> {
  const paths = exports
    .map((each) => each?.replace(/:[^:]*$/, '') ?? '')
    .filter((path) => /[./\\]/.test(path));
  return await importedFiles(
    paths.map((path) => resolve(root, path)),
    root,
  );
}

import { relative, resolve } from 'node:path';
import type { LoadedConfig } from '../config/load.ts';
import { ConfigError } from '../config/problems.ts';
import type { Logger } from '../core/logger.ts';
import { endRequest, StartFailure } from '../node.ts';
import type { FlagValues } from './command.ts';
import { loadFor } from './configured.ts';
import { FrontDoor } from './front-door.ts';
import { importedFiles } from './imports.ts';
import { type DevServerArguments, ServerProcess } from './server-process.ts';
import { FileWatcher } from './watch.ts';

/**
 * Serves, and serves anew after every change, until asked to end. While the configuration is wrong, the server of
 * the last good one goes on.
 */
export async function develop(flags: FlagValues, first: LoadedConfig, logger: Logger): Promise<number> {
  using end = endRequest();
  using door = new FrontDoor();
  await door.openAt(first.config.server);
  await using servers = new ServerSuccession({ flags, root: first.config.root }, door, logger);
  using watcher = new FileWatcher();
  for (let loaded: LoadedConfig | undefined = first; ; loaded = await reload(flags, door, logger)) {
    if (loaded !== undefined) {
      watcher.watch(await watchedFiles(loaded));
      await servers.next();
    }
    const changed = await Promise.race([watcher.next(), end.requested]);
    if (typeof changed !== 'string') return 0;
    logger.info('changed, starting anew', { file: relative(process.cwd(), changed) });
  }
}

/**
 * One server process after the other behind a door that stays open. The next one is started long before it is needed,
 * so that a change costs only the time to load the project.
 */
class ServerSuccession implements AsyncDisposable {
  readonly #given: DevServerArguments;
  readonly #door: FrontDoor;
  readonly #logger: Logger;
  #current: ServerProcess | undefined;
  #spare: ServerProcess | undefined;
  /** Never rejects. */
  #supervision: Promise<void> = Promise.resolve();

  constructor(given: DevServerArguments, door: FrontDoor, logger: Logger) {
    this.#given = given;
    this.#door = door;
    this.#logger = logger;
  }

  /** Resolves when the process before has stopped; connections wait until the new one takes them. */
  async next(): Promise<void> {
    const before = this.#current;
    const server = this.#spare?.alive ? this.#spare : new ServerProcess(this.#given);
    this.#spare = undefined;
    this.#current = server;
    this.#door.leadTo('starting');
    await before?.stop();
    this.#supervision = this.#supervise(server, before === undefined);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const last = this.#current;
    this.#current = undefined;
    await Promise.all([last?.stop(), this.#spare?.stop()]);
    await this.#supervision;
  }

  /** A server that ends by itself is not started again: it most likely would end again. The next change does. */
  async #supervise(server: ServerProcess, isFirst: boolean): Promise<void> {
    const reachable = await server.serve(this.#door.url, isFirst);
    if (this.#current === server) {
      if (reachable) this.#door.leadTo(server.child);
      this.#spare = new ServerProcess(this.#given);
    }
    const code = await server.ended;
    if (this.#current !== server) return;
    this.#door.leadTo('broken');
    if (code !== 0)
      this.#logger.error('the server ended; it starts anew at the next change', { exit_code: code });
  }
}

/** Undefined when the configuration is wrong or its port is taken; then it has said so. */
async function reload(flags: FlagValues, door: FrontDoor, logger: Logger): Promise<LoadedConfig | undefined> {
  try {
    const loaded = await loadFor(flags);
    await door.openAt(loaded.config.server);
    return loaded;
  } catch (error) {
    if (!(error instanceof ConfigError || error instanceof StartFailure)) throw error;
    for (const line of error.message.split('\n')) logger.error(line);
    logger.error(
      'the configuration is not used until this is mended; the server goes on with the one before',
    );
    return undefined;
  }
}

async function watchedFiles({ config, files }: LoadedConfig): Promise<string[]> {
  const handlers = config.auth.path?.replace(/:[^:]*$/, '');
  const paths = [...config.graphs.map(({ path }) => path), ...(handlers === undefined ? [] : [handlers])];
  const entries = paths.map((path) => resolve(config.root, path));
  return [...files, ...(await importedFiles(entries, config.root))];
}

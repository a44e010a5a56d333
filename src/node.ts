import type { App, AppOptions } from './app.ts';
import { applyEnvironment } from './config/env.ts';
import type { Config } from './config/schema.ts';
import type { LogFields, Logger } from './core/logger.ts';
import { sleep } from './core/timers.ts';
import type { RunningNode } from './graphs/observability/running-node.ts';
import { type FaultyNode, watchUserCode } from './node/user-code.ts';

/** The server cannot start for a reason the user can mend; the message is one line. */
export class StartFailure extends Error {
  constructor(line: string, options?: { cause?: unknown }) {
    super(line, options);
    this.name = 'StartFailure';
  }
}

export interface ServeOptions {
  readonly logger: Logger;
  /** How long running runs may go on at the end, ms. */
  readonly grace_ms: number;
  /** Asks for the end, as SIGTERM, SIGINT and SIGHUP do. */
  readonly stop?: AbortSignal;
  /** Makes the app reachable and resolves to its address; without it, it listens where the configuration says. */
  readonly makeReachable?: (app: App) => Promise<string>;
  /** Says that the server is ready; without it, the log does. */
  readonly announce?: ((facts: LogFields) => void) | undefined;
  /** As in `AppOptions`. */
  readonly gives_hints?: boolean;
  /** Hears of a node that ends this process, just before its end. */
  readonly onFaultyNode?: (culprit: FaultyNode) => void;
  /** A run that ended the process before: it fails at once. */
  readonly blamed?: AppOptions['blamed'];
  /** Looks after the event loop while the server lives. */
  readonly watchEventLoop?: (runningNode: () => RunningNode | undefined) => Disposable;
}

/** Beyond the grace period, ms: what was interrupted must only be written down. */
const STOP_MARGIN_MS = 10_000;

/**
 * The life of a server: start, ready, drain, stop. Resolves to the exit code when it has stopped. Throws a
 * `StartFailure`, or what broke, when it cannot start.
 */
export async function serve(config: Config, options: ServeOptions): Promise<number> {
  const { logger, grace_ms } = options;
  using end = endRequest(options.stop);
  using userCode = watchUserCode(logger, options.onFaultyNode);
  applyEnvironment(config.env);
  // Only now: it brings LangChain, which reads its environment when it loads.
  const { createApp } = await import('./app.ts');
  const app = await createApp(config, {
    logger,
    blamed: options.blamed,
    gives_hints: options.gives_hints === true,
  });
  const { runningNodeReader } = await import('./graphs/observability/running-node.ts');
  const runningNode = await runningNodeReader(config.root);
  userCode.setRunningNode(runningNode);
  using _watch = options.watchEventLoop?.(runningNode);
  try {
    const url = await (options.makeReachable?.(app) ?? listen(app, config.server));
    await app.ready();
    const announce = options.announce ?? ((facts: LogFields) => logger.info('ready', facts));
    announce(readyFields(config, app, url));
  } catch (error) {
    await app.stop(0);
    throw error;
  }
  await end.requested;
  logger.info('stopping', { grace_seconds: grace_ms / 1000 });
  const inTime = await Promise.race([
    app.stop(grace_ms).then(() => true),
    sleep(grace_ms + STOP_MARGIN_MS).then(() => false),
  ]);
  if (inTime) logger.info('stopped');
  else logger.error('stopped without waiting any longer; what is running resumes at the next start');
  return inTime ? 0 : 1;
}

/** What asks for the end. SIGHUP comes when a terminal or a session goes; Node would die of it at once. */
const END_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/**
 * Resolves at the first request to end. A second signal ends the process at once: somebody is in a hurry. SIGUSR1 does
 * nothing meanwhile: by default Node opens its debugger, to whoever is on this machine.
 */
export function endRequest(stop?: AbortSignal): Disposable & { readonly requested: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  let signalled = false;
  const onSignal = () => {
    if (signalled) process.exit(1);
    signalled = true;
    resolve();
  };
  const onStop = () => resolve();
  const onNothing = () => {};
  for (const signal of END_SIGNALS) process.on(signal, onSignal);
  process.on('SIGUSR1', onNothing);
  stop?.addEventListener('abort', onStop);
  if (stop?.aborted) resolve();
  return {
    requested: promise,
    [Symbol.dispose]() {
      for (const signal of END_SIGNALS) process.off(signal, onSignal);
      process.off('SIGUSR1', onNothing);
      stop?.removeEventListener('abort', onStop);
    },
  };
}

async function listen(app: App, address: Address): Promise<string> {
  try {
    return (await app.listen()).url;
  } catch (error) {
    throw listenFailure(error, address);
  }
}

interface Address {
  readonly host: string;
  readonly port: number;
}

/** What listening on an address failed with, as a line that says what to do. */
export function listenFailure(error: unknown, { host, port }: Address): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE') {
    return new StartFailure(
      `port ${port} of ${host} is in use: stop the other program or choose a port with --port`,
    );
  }
  if (code === 'EACCES')
    return new StartFailure(`port ${port} requires more privileges: choose one above 1023 with --port`);
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    return new StartFailure(`${host} is not an address of this machine: choose another with --host`);
  }
  return error;
}

function readyFields(config: Config, app: App, url: string): LogFields {
  const base = `${url}${config.http.mount_prefix ?? ''}`;
  const failed = [...app.graphs.loadErrors().keys()];
  return {
    url: base,
    ...(!config.http.disable_meta && { docs: `${base}/docs` }),
    graphs: app.graphs.ids.filter((id) => !failed.includes(id)).join(', '),
    ...(failed.length > 0 && { failed_graphs: failed.join(', ') }),
    storage: maskDatabaseUrl(config.storage.url),
    auth: authSummary(config),
  };
}

/** Who is let in, in a few words. */
function authSummary({ auth, server }: Config): string {
  const keys = server.api_keys.length;
  const ways = [
    keys > 0 ? `X-Api-Key, ${keys} ${keys === 1 ? 'key' : 'keys'}` : auth.required && 'keys from keys create',
    auth.path !== undefined && `handlers of ${auth.path}`,
    auth.jwt && `tokens of ${auth.jwt.issuer ?? auth.jwt.jwks_url ?? 'a shared secret'}`,
  ].filter((way) => typeof way === 'string');
  return ways.length > 0 ? ways.join('; ') : 'none: only this machine is served';
}

/** The address of a database for the log. By text: one with several hosts is no URL, and a query may hold a password. */
export function maskDatabaseUrl(url: string): string {
  return url.startsWith('sqlite:') ? url : url.replace(/\/\/.*@/, '//').replace(/\?.*$/, '');
}

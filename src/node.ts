import { flushCompileCache } from 'node:module';
import { readyFields as extensionFields, pageOf } from './app/extensions.ts';
import type { App, AppOptions } from './app.ts';
import { applyEnvironment } from './config/env.ts';
import type { Config } from './config/schema.ts';
import { systemClock } from './core/clock.ts';
import type { LogFields, Logger } from './core/logger.ts';
import { returnMemoryWhenIdle } from './core/memory.ts';
import { after, sleep } from './core/timers.ts';
import type { RunningNode } from './graphs/observability/running-node.ts';
import { watchUserCode } from './graphs/observability/user-code.ts';
import { type HeldPort, holdFreePort } from './http/listen.ts';

/** The server cannot start for a reason that the user can fix; the message is a single line. */
export class StartFailure extends Error {
  constructor(line: string, options?: { cause?: unknown }) {
    super(line, options);
    this.name = 'StartFailure';
  }
}

export interface ServeOptions {
  readonly logger: Logger;
  /** As in `AppOptions`. */
  readonly recent_log?: AppOptions['recent_log'];
  /** Grace period of executing runs at shutdown, ms. */
  readonly grace_ms: number;
  /** Requests shutdown, like SIGTERM, SIGINT and SIGHUP. */
  readonly stop?: AbortSignal;
  /**
   * Makes the app reachable at the configured port and resolves to its URL; by default, it listens at the configured
   * address.
   */
  readonly makeReachable?: (app: App) => Promise<string>;
  /** Reports readiness instead of the log. */
  readonly announce?: ((fields: LogFields) => void) | undefined;
  /** As in `AppOptions`. */
  readonly gives_hints?: boolean;
}

/** Time on top of the grace period, ms, to persist interrupted runs. */
const STOP_MARGIN_MS = 10_000;

/**
 * When the code compiled so far is written to its cache, ms after the start. Node does so when a process ends by itself;
 * after a `kill -9` the next start would have to compile everything again, which takes half as long again.
 */
const CACHE_DELAY_MS = 5000;

/**
 * Life cycle of a server: start, ready, drain, stop. Resolves to the exit code after it has stopped. Throws a
 * `StartFailure`, or the original error, if it cannot start.
 */
export async function serve(configured: Config, options: ServeOptions): Promise<number> {
  const { logger, grace_ms } = options;
  using held = await holdPort(configured.server);
  const config = held ? { ...configured, server: { ...configured.server, port: held.port } } : configured;
  const broken = new AbortController();
  using end = endRequest(AbortSignal.any([broken.signal, ...(options.stop ? [options.stop] : [])]));
  // With graph hosts no code of graphs executes here: what nothing caught is the server's own failure.
  const onOwnFailure = config.hosts.count === 0 ? undefined : () => broken.abort();
  using userCode = watchUserCode(logger, { process: 'server', onOwnFailure });
  applyEnvironment(config);
  // Imported late: it loads LangChain, which reads its environment on load.
  const { createApp } = await import('./app.ts');
  const app = await createApp(config, {
    logger,
    recent_log: options.recent_log,
    logs_output: true,
    gives_hints: options.gives_hints === true,
    stop: end.signal,
  }).catch((error: unknown) => {
    if (!end.signal.aborted) throw error;
  });
  if (app === undefined) return broken.signal.aborted ? 1 : 0;
  userCode.setRunningNode(await readerOfRunningNode(config));
  try {
    held?.[Symbol.dispose]();
    const url = await (options.makeReachable?.(app) ?? listen(app, config.server));
    // A project may take long to load, or never be loaded.
    await Promise.race([app.ready(), end.requested]);
    const announce = options.announce ?? ((fields: LogFields) => logger.info('ready', fields));
    if (!end.signal.aborted) announce(readyFields(config, app, url));
  } catch (error) {
    await app.stop(0);
    throw error;
  }
  using _memory = returnMemoryWhenIdle();
  using _cache = after(CACHE_DELAY_MS, flushCompileCache).unref();
  await end.requested;
  logger.info('stopping', { grace_seconds: grace_ms / 1000 });
  const inTime = await Promise.race([
    app.stop(grace_ms).then(() => true),
    sleep(grace_ms + STOP_MARGIN_MS).then(() => false),
  ]);
  if (inTime) logger.info('stopped');
  else logger.error('stopped without waiting any longer; active runs resume at the next start');
  return inTime && !broken.signal.aborted ? 0 : 1;
}

/** With graph hosts no node executes in this process. */
async function readerOfRunningNode({ root, hosts }: Config): Promise<() => RunningNode | undefined> {
  if (hosts.count !== 0) return () => undefined;
  const { runningNodeReader } = await import('./graphs/observability/running-node.ts');
  return runningNodeReader(root);
}

/** Signals that request shutdown. SIGHUP is sent when a terminal closes; by default it kills Node immediately. */
const END_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** A shutdown that may be requested, as a promise and as a signal. */
interface EndRequest extends Disposable {
  readonly requested: Promise<void>;
  readonly signal: AbortSignal;
}

/** npm forwards a Ctrl-C that the terminal has already sent to all its processes: one that repeats so soon is the same. */
const SAME_SIGNAL_MS = 500;

/**
 * Resolves at the first shutdown signal; a second one exits immediately. SIGUSR1 is ignored meanwhile: by default Node
 * opens its debugger to any local process.
 */
export function endRequest(stop?: AbortSignal): EndRequest {
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = new AbortController();
  const request = () => {
    end.abort();
    resolve();
  };
  let first: { readonly signal: NodeJS.Signals; readonly at_ms: number } | undefined;
  const onSignal = (signal: NodeJS.Signals) => {
    const at_ms = systemClock.monotonic();
    first ??= { signal, at_ms };
    if (signal !== first.signal || at_ms - first.at_ms > SAME_SIGNAL_MS) process.exit(1);
    request();
  };
  const onNothing = () => {};
  for (const signal of END_SIGNALS) process.on(signal, onSignal);
  process.on('SIGUSR1', onNothing);
  stop?.addEventListener('abort', request);
  if (stop?.aborted) request();
  return {
    requested: promise,
    signal: end.signal,
    [Symbol.dispose]() {
      for (const signal of END_SIGNALS) process.off(signal, onSignal);
      process.off('SIGUSR1', onNothing);
      stop?.removeEventListener('abort', request);
    },
  };
}

/** Graphs read the port as they load: port 0 is resolved before. */
async function holdPort(address: Address): Promise<HeldPort | undefined> {
  if (address.port !== 0) return undefined;
  return await holdFreePort(address.host).catch((error: unknown) => {
    throw listenFailure(error, address);
  });
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

/** Turns a listen error into a line that names the remedy. */
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
  const page = pageOf(config);
  const failed = [...app.graphs.loadErrors().keys()];
  return {
    url: base,
    ...(page !== undefined && { studio: `${base}${page}` }),
    ...(!config.http.disable_meta && { docs: `${base}/docs` }),
    graphs: app.graphs.ids.filter((id) => !failed.includes(id)).join(', '),
    ...extensionFields(config),
    ...(failed.length > 0 && { failed_graphs: failed.join(', ') }),
    storage: maskDatabaseUrl(config.storage.url),
    auth: authSummary(config),
  };
}

/** Summary of the authentication methods. */
function authSummary({ auth, server }: Config): string {
  const keys = server.api_keys.length;
  const ways = [
    keys > 0 ? `X-Api-Key, ${keys} ${keys === 1 ? 'key' : 'keys'}` : auth.required && 'keys from keys create',
    auth.path !== undefined && `handlers of ${auth.path}`,
    auth.jwt && `tokens of ${auth.jwt.issuer ?? auth.jwt.jwks_url ?? 'a shared secret'}`,
  ].filter((way) => typeof way === 'string');
  return ways.length > 0 ? ways.join('; ') : 'none: only this machine is served';
}

/** Masks credentials for the log. By regex: a URL with several hosts does not parse, a query may hold a password. */
export function maskDatabaseUrl(url: string): string {
  return url.startsWith('sqlite:') ? url : url.replace(/\/\/.*@/, '//').replace(/\?.*$/, '');
}

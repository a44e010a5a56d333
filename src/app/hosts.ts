import { availableParallelism } from 'node:os';
import { isDeepStrictEqual } from 'node:util';
import { graphEnvironment } from '../config/env.ts';
import type { Config } from '../config/schema.ts';
import type { Clock } from '../core/clock.ts';
import type { Logger } from '../core/logger.ts';
import { openSharedLease } from '../core/shared-lease.ts';
import type { Asking } from '../hosts/pool/ask.ts';
import type { HostCount } from '../hosts/pool/elastic.ts';
import { givenToHosts, projectCode } from './extensions.ts';
import { schemaCache } from './graphs.ts';
import type { ReloadResult } from './replaceable-app.ts';
import { isSingleProcess } from './workers.ts';

interface HostParts {
  readonly logger: Logger;
  readonly clock: Clock;
  /** Environment of the hosts, instead of the one of this process. */
  readonly env: NodeJS.ProcessEnv | undefined;
  readonly lease: HostLease | undefined;
}

/** Shared memory through which hosts see the lease on their runs. */
export type HostLease = ReturnType<typeof openSharedLease>;

/** Returns `undefined` without hosts, or if no other process could take over their runs. */
export function openHostLease(config: Config): HostLease | undefined {
  return config.hosts.count === 0 || isSingleProcess(config) ? undefined : openSharedLease();
}

/**
 * Starts the graph hosts, which begin to load the project; `undefined` if its code executes in this process, or there
 * is none. The pool is imported lazily: an embedded server rarely has hosts.
 */
export async function openHosts(
  config: Config,
  { logger, clock, env, lease }: HostParts,
): Promise<Asking | undefined> {
  const { root, graphs, auth, store, http, hosts } = config;
  if (hosts.count === 0 || !hasCode(config)) return undefined;
  const { HostPool } = await import('../hosts/pool/pool.ts');
  const { handOverDebugger } = await import('../hosts/pool/debugger.ts');
  const isDebugged = handOverDebugger();
  const pool = new HostPool({
    count: hosts.count === 'auto' ? autoCount(isDebugged) : { least: hosts.count, most: hosts.count },
    max_memory_bytes: hosts.max_memory_mb && hosts.max_memory_mb * 1024 ** 2,
    project: {
      root,
      graphs: [...graphs],
      schema_cache: schemaCache(config),
      auth: auth.path,
      embedder: store.index && { embed: store.index.embed, dims: store.index.dims },
      extensions: givenToHosts(config),
    },
    app: http.app,
    mount_prefix: http.mount_prefix,
    env: env ?? graphEnvironment(config.env),
    lease_fd: lease?.fd,
    logger,
    clock,
  });
  return { pool, logger };
}

/** A server that hosts nothing but deployments has no code of its own. */
function hasCode(config: Config): boolean {
  const { graphs, auth, store, http } = config;
  const ofCore = [auth.path, store.index, http.app].some((each) => each !== undefined);
  return graphs.length > 0 || ofCore || projectCode(config).length > 0;
}

type Server = Parameters<typeof import('../hosts/pool/listener.ts')['listenForHosts']>[0];

/** Lets the hosts send requests to the server. */
export async function openHostListener(server: Server, { pool }: Asking): Promise<AsyncDisposable> {
  const { listenForHosts } = await import('../hosts/pool/listener.ts');
  return await listenForHosts(server, pool);
}

/** Reloads the project's code. The server registers custom routes and checks everything besides the graphs only at start. */
export async function reloadProject({ pool }: Asking, signal: AbortSignal): Promise<ReloadResult> {
  const before = pool.loaded;
  const loaded = await pool.reload(signal);
  if (loaded === undefined) return 'not_loaded';
  const { app, project_errors } = loaded;
  const isEnough = Object.keys(project_errors).length === 0 && isDeepStrictEqual(before?.app, app);
  return isEnough ? 'loaded' : 'needs_restart';
}

/**
 * A second one has its use on any machine: while the first is blocked, the other runs continue there. With a debugger, all runs
 * execute where it is.
 */
function autoCount(isDebugged: boolean): HostCount {
  return { least: 1, most: isDebugged ? 1 : Math.max(2, availableParallelism() - 1) };
}

import type { GraphRegistry } from '../graphs/graph.ts';
import type { createServer } from '../http/server.ts';
import type { ServerDeps } from '../http/server-deps.ts';
import type { Services } from '../services/all-services.ts';

export type HttpServer = Awaited<ReturnType<typeof createServer>>;

/**
 * `not_loaded`: the previous code stays, because the load was aborted or failed, which has been logged. `needs_restart`: the
 * server itself must restart, because it knows the custom routes of the previous code.
 */
export type ReloadResult = 'loaded' | 'not_loaded' | 'needs_restart';

/** A complete server with one life cycle: create, start, stop. */
export interface App extends AsyncDisposable {
  readonly server: HttpServer;
  readonly graphs: GraphRegistry;
  /** Begins to accept requests. */
  listen(): Promise<{ host: string; port: number; url: string }>;
  /** Reloads the project's code in graph hosts, until aborted. Absent if the code executes in this process. */
  readonly reload?: ((signal: AbortSignal) => Promise<ReloadResult>) | undefined;
  /** Resolves when the graph hosts have loaded the project; rejects if they cannot. */
  loaded(): Promise<void>;
  /** Starts the workers; runs left by an earlier process are recovered first. */
  ready(): Promise<void>;
  /**
   * Graceful drain: ends streams, gives executing runs `grace_ms`, requeues the rest, and closes. A failing step does
   * not skip the others; its error is thrown at the end.
   */
  stop(grace_ms: number): Promise<void>;
}

/** An app that another one on the same foundation may replace. */
export interface ReplaceableApp extends App {
  readonly services: Services;
  readonly engine: Pick<GraphRegistry, 'hosts'> & ServerDeps['engine'];
  /**
   * Hands its work over to the app that replaces it: stops claiming runs, lets executing ones run for
   * `drain_ms`, and hands over the rest at their next checkpoint. It still serves its requests; `stop` it
   * afterwards.
   */
  retire(drain_ms: number): Promise<void>;
  /** Stops its graph hosts. Requests that need no graph are still served. */
  endHosts(): Promise<void>;
}

/** Parts that are started and stopped together with an app. */
export interface Companion {
  start(): Promise<void>;
  stop(grace_ms: number): Promise<void>;
}

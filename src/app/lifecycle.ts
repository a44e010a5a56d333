import type { Config } from '../config/schema.ts';
import { closeAll } from '../core/lifecycle.ts';
import type { GraphRegistry } from '../graphs/graph.ts';
import type { LangSmithTraces } from '../graphs/observability/langsmith-traces.ts';
import type { Asking } from '../hosts/pool/ask.ts';
import { addressesOf, type Listening, listenAt, portOf } from '../http/listen.ts';
import type { Services } from '../services/all-services.ts';
import type { Engine } from '../workers/engine.ts';
import type { Extensions } from './extensions.ts';
import { reloadProject } from './hosts.ts';
import type { OutputCapture } from './output.ts';
import type { Foundation } from './place.ts';
import type { HttpServer, ReplaceableApp } from './replaceable-app.ts';
import type { EngineStatus } from './server-status.ts';

export interface AppParts {
  readonly config: Config;
  readonly server: HttpServer;
  readonly services: Services;
  readonly engine: EngineStatus;
  readonly graphs: GraphRegistry;
  readonly hosts: Asking | undefined;
  /** Lease that its heartbeat writes and its hosts read. */
  readonly lease: Disposable | undefined;
  readonly workers: Engine;
  readonly foundation: Foundation;
  /** The foundation is closed with the app. */
  readonly owns_foundation: boolean;
  readonly traces: LangSmithTraces | undefined;
  readonly extensions: Pick<Extensions, 'start' | 'stop' | 'stopLoops'> & AsyncDisposable;
  /** Fails the readiness check, so that new runs go to another process. */
  readonly drain: AbortController;
  /** Stops the background extraction of graph schemas. */
  readonly end: AbortController;
  readonly loopback: Disposable | undefined;
  readonly hostListener: AsyncDisposable | undefined;
  readonly capture: OutputCapture | undefined;
}

/** How long a run has to reach its next checkpoint for handing over, ms. */
const HAND_OVER_MS = 15_000;

export function appLifecycle({ config, ...parts }: AppParts): ReplaceableApp {
  const { server, services, graphs, hosts, workers, foundation, traces, extensions, drain, end } = parts;
  const { loopback, hostListener, capture } = parts;
  let listening: Listening | undefined;
  let stopping: Promise<void> | undefined;
  let retiring: Promise<void> | undefined;

  function stop(grace_ms: number): Promise<void> {
    drain.abort();
    if (parts.owns_foundation) foundation.bus.drain();
    return closeAll([
      // The server keeps serving while runs finish, so that clients see them end; `/ok` diverts new requests.
      () => Promise.all([workers.stop(grace_ms), extensions.stop(grace_ms), retiring]),
      () => extensions.stopLoops(),
      () => traces?.flush(),
      () => end.abort(),
      () => loopback?.[Symbol.dispose](),
      () => Promise.all([listening?.[Symbol.asyncDispose](), server.close()]),
      () => extensions[Symbol.asyncDispose](),
      () => hosts?.pool[Symbol.asyncDispose](),
      () => parts.lease?.[Symbol.dispose](),
      () => hostListener?.[Symbol.asyncDispose](),
      () => capture?.[Symbol.dispose](),
      () => parts.owns_foundation && foundation[Symbol.asyncDispose](),
    ]);
  }

  async function retire(drain_ms: number): Promise<void> {
    await workers.drain(drain_ms);
    await Promise.all([workers.stop(HAND_OVER_MS, true), extensions.stop(HAND_OVER_MS)]);
    await extensions.stopLoops();
  }

  return {
    server,
    services,
    engine: parts.engine,
    graphs,
    reload: hosts && ((signal) => reloadProject(hosts, signal)),
    async listen() {
      const { host, port } = config.server;
      listening = await listenAt(server, await addressesOf(host), port);
      const { url } = listening;
      return { host, port: portOf(url), url };
    },
    async loaded() {
      await hosts?.pool.listing;
    },
    async ready() {
      // A project that fails to load is reported by its graphs.
      await hosts?.pool.listing.catch(() => {});
      if (stopping !== undefined) return;
      await workers.start();
      await extensions.start();
    },
    retire(drain_ms) {
      retiring ??= retire(drain_ms);
      return retiring;
    },
    async endHosts() {
      await hosts?.pool[Symbol.asyncDispose]();
    },
    stop(grace_ms) {
      stopping ??= stop(grace_ms);
      return stopping;
    },
    [Symbol.asyncDispose]() {
      return this.stop(0);
    },
  };
}

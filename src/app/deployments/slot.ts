import { deploymentEnvironment } from '../../config/env.ts';
import type { Config } from '../../config/schema.ts';
import type { Clock } from '../../core/clock.ts';
import { ServerError } from '../../core/errors.ts';
import type { Ids } from '../../core/ids.ts';
import { closeAll } from '../../core/lifecycle.ts';
import type { Logger } from '../../core/logger.ts';
import { sleep, timeoutSignal, unlessAborted } from '../../core/timers.ts';
import { MountedServer } from '../../http/dispatch.ts';
import type { DataPlane, DeploymentActivity, ServedRevision } from '../../services/deployments/data-plane.ts';
import type { KeyLookup } from '../../storage/access/api-keys.ts';
import type { DeploymentDatabases } from '../../storage/deployment-databases.ts';
import type { DeploymentFiles } from '../../storage/deployments/files.ts';
import { type Foundation, openFoundation } from '../foundation.ts';
import type { ReplaceableApp } from '../lifecycle.ts';
import type { CreateApp, RootPlace } from '../place.ts';
import { checkFailure, reasonOf } from './check-failure.ts';
import { checkRevision } from './checks.ts';
import { liveRevisions, problemOf, type TrackedRevision } from './live-revisions.ts';
import { revisionLogger } from './log.ts';
import { deploymentConfig } from './project.ts';

export interface SlotDeps {
  readonly server: Config;
  readonly createApp: CreateApp;
  readonly files: DeploymentFiles;
  readonly databases: DeploymentDatabases;
  readonly administrators: KeyLookup;
  readonly is_protected: boolean;
  /** It answers at the root of the server, too. */
  readonly root: RootPlace | undefined;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
}

/** An app that serves, or served, a revision. */
interface Served {
  readonly revision_id: string;
  readonly config: Config;
  readonly app: ReplaceableApp;
  readonly mount: MountedServer;
  readonly tracked: TrackedRevision;
}

/** Bound of a wait that has no end of its own, ms: streams may last as long as their clients stay. */
const FOREVER_MS = 2 ** 31 - 1;
/** How long a new revision waits for the one that served before a restart, which loads meanwhile, ms. */
const RESUME_GRACE_MS = 10_000;

/** One deployment: its database, the app that serves it, and those that finish what they began. */
export class DeploymentSlot {
  readonly #deps: SlotDeps;
  readonly #name: string;
  readonly #closing = new AbortController();
  readonly #retiring = new Set<Promise<void>>();
  readonly #live: ReturnType<typeof liveRevisions>;
  #foundation: Promise<Foundation> | undefined;
  /** Aborts when a revision serves: one that still loads is not needed then. */
  readonly #superseded = new AbortController();
  #resuming: Promise<void> = Promise.resolve();
  #hasApps = false;
  #current: Served | undefined;
  /** Why nothing serves: what served before the server started again could not be started. */
  #failure: string | undefined;
  /** While a revision is activated. */
  #switching: Promise<void> | undefined;

  constructor(name: string, deps: SlotDeps) {
    this.#name = name;
    this.#deps = { ...deps, logger: deps.logger.with({ deployment: name }) };
    this.#live = liveRevisions(deps.clock);
  }

  /** Whether there is a revision that answers requests. */
  get serves(): boolean {
    return this.#current !== undefined;
  }

  /**
   * Calls `act` with what answers requests; `undefined` before the first revision serves. While a revision is
   * activated, it waits: who knows of the new revision must not be answered by the old one.
   */
  withMount(act: (mount: MountedServer | undefined) => void): void {
    if (this.#switching !== undefined) void this.#switching.then(() => this.withMount(act));
    else act(this.#current?.mount);
  }

  /** See `DataPlane.foldersInUse`. */
  get foldersInUse(): string[] {
    return this.#live.folders();
  }

  /** See `DataPlane.deploy`. */
  async deploy(revision: ServedRevision, control: Parameters<DataPlane['deploy']>[1]): Promise<boolean> {
    const { log, onStep, activate, signal } = control;
    onStep('start');
    const next = await this.#open(revision, signal);
    try {
      signal.throwIfAborted();
      onStep('check');
      // What served before is compared with; if it hangs, nothing waits for it.
      await Promise.race([this.#resuming, sleep(RESUME_GRACE_MS, signal)]);
      // Its hosts may never answer; they end with the app.
      const warnings = await unlessAborted(signal, checkRevision(next, this.#current, revision));
      for (const warning of warnings) log('WARNING', warning);
      onStep('switch');
      if (await this.#activate(next, activate)) return true;
    } catch (error) {
      await this.#end(next);
      throw error;
    }
    await this.#end(next);
    return false;
  }

  /** See `DataPlane.activity`. */
  async activity(): Promise<DeploymentActivity> {
    // Who knows of the new revision must not be shown the old one as what serves.
    while (this.#switching !== undefined) await this.#switching;
    const revisions = this.#live.list();
    if (!this.#current) {
      const isStarting = revisions.some(({ state }) => state === 'starting');
      const problem = isStarting ? 'It is being started.' : (this.#failure ?? 'Nothing serves it.');
      return { revisions, queue: undefined, problem };
    }
    const { app } = this.#current;
    const [problem, { n_pending, n_running }] = await Promise.all([problemOf(app), app.engine.queueCounts()]);
    return { revisions, queue: { pending: n_pending, running: n_running }, problem };
  }

  /**
   * Serves the revision that served when the server ended, without further checks, unless another one serves before it
   * has loaded. Rejects if it has not loaded within `limit_ms`.
   */
  async resume(revision: ServedRevision, limit_ms: number): Promise<void> {
    const late = timeoutSignal(limit_ms);
    const signal = AbortSignal.any([late, this.#superseded.signal, this.#closing.signal]);
    const resuming = this.#resume(revision, signal).catch((error: unknown) => {
      const isLate = late.aborted && signal.reason === late.reason;
      const text = `it did not load within ${limit_ms / 1000} seconds`;
      const failure = isLate ? new Error(text, { cause: error }) : (error as Error);
      this.#failure = reasonOf(failure);
      throw failure;
    });
    this.#resuming = resuming.catch(() => {});
    await resuming;
  }

  async #resume(revision: ServedRevision, signal: AbortSignal): Promise<void> {
    const next = await this.#loaded(revision, signal).catch((error: unknown) => {
      if (!this.#closing.signal.aborted && !this.#superseded.signal.aborted) throw error;
    });
    if (next && signal.aborted) await this.#end(next);
    else if (next) await this.#switchTo(next);
  }

  async #loaded(revision: ServedRevision, signal: AbortSignal): Promise<Served> {
    const next = await this.#open(revision, signal);
    // A project that cannot be loaded is reported by its graphs.
    const loaded = next.app.loaded().catch(() => {});
    try {
      await unlessAborted(signal, loaded);
    } catch (error) {
      await this.#end(next);
      throw error;
    }
    return next;
  }

  /** Ends streams and hosts; runs get `grace_ms` and wait for the next start then. */
  async close(grace_ms: number): Promise<void> {
    this.#closing.abort();
    await this.#resuming;
    const current = this.#current;
    this.#current = undefined;
    await closeAll([
      () => current && this.#end(current, grace_ms),
      () => Promise.all(this.#retiring),
      async () => (await this.#foundation)?.[Symbol.asyncDispose](),
    ]);
  }

  /** Creates the app of a revision, which does not work yet. Throws a `RevisionError`. `stop` ends it. */
  async #open(revision: ServedRevision, stop: AbortSignal): Promise<Served> {
    const { revision_id } = revision;
    const tracked = this.#live.track(revision);
    try {
      const { app, config } = await this.#createApp(revision, stop);
      const mount = new MountedServer(app.server);
      tracked.opened(app, mount);
      return { revision_id, config, app, mount, tracked };
    } catch (error) {
      tracked[Symbol.dispose]();
      throw error;
    }
  }

  async #end({ app, tracked }: Served, grace_ms = 0): Promise<void> {
    using _ = tracked;
    await app.stop(grace_ms);
  }

  async #createApp(revision: ServedRevision, stop: AbortSignal): Promise<Pick<Served, 'app' | 'config'>> {
    const { server, files, databases, createApp, administrators, is_protected, root, clock, ids, logger } =
      this.#deps;
    const home = files.home(this.#name);
    const database = await databases.open({ deployment_id: revision.deployment_id, name: this.#name });
    const config = await deploymentConfig(revision, { server, database, is_protected });
    const log = files.log(this.#name, revision.revision_id, 'deploy');
    const foundation = await this.#openFoundation(config);
    const is_first = !this.#hasApps;
    this.#hasApps = true;
    const secrets = Object.values(revision.secrets);
    const options = { logger: revisionLogger(logger, { log, secrets, clock }), clock, ids };
    const environment = deploymentEnvironment(config.env, home);
    const place = {
      ...{ foundation, is_first, environment, administrators, root, stop },
      server_root: server.root,
    };
    stop.throwIfAborted();
    const app = await createApp(config, options, place).catch((error: Error) => {
      if (error instanceof ServerError) throw error;
      const what = `The project cannot be started: ${reasonOf(error)}`;
      const advice = 'Correct it, and deploy again.';
      throw checkFailure({ code: 'start_failed', what, advice, cause: error }, 'start');
    });
    return { config, app };
  }

  /** A failure to open it is that of one revision; the next one tries again. */
  #openFoundation(config: Config): Promise<Foundation> {
    const { clock, ids, logger } = this.#deps;
    this.#foundation ??= openFoundation(config, { logger, clock, worker_id: ids.uuid4() }).catch((error) => {
      this.#foundation = undefined;
      throw error;
    });
    return this.#foundation;
  }

  /** Returns false, and nothing has changed, if `activate` did. */
  async #activate(next: Served, activate: () => Promise<boolean>): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#switching = promise;
    let ready: Promise<void> | undefined;
    try {
      if (await activate()) ready = this.#switchTo(next);
    } finally {
      this.#switching = undefined;
      resolve();
    }
    await ready;
    return ready !== undefined;
  }

  /** New requests go to `next` before its workers claim anything. */
  async #switchTo(next: Served): Promise<void> {
    const before = this.#current;
    this.#current = next;
    next.tracked.enter('serving');
    this.#superseded.abort();
    if (before) {
      const retiring = this.#retire(before)
        .catch((error: unknown) =>
          this.#deps.logger.error('an old revision did not end as it should', { error }),
        )
        .finally(() => this.#retiring.delete(retiring));
      this.#retiring.add(retiring);
    }
    await next.app.ready();
    this.#deps.logger.info('revision serves', { revision_id: next.revision_id });
  }

  /** Runs end or are handed over, then requests that need hosts; streams go on until their clients have it all. */
  async #retire(served: Served): Promise<void> {
    const { app, mount, revision_id, tracked } = served;
    using _ = tracked;
    tracked.enter('draining');
    const { drain_timeout_seconds } = this.#deps.server.deployments;
    const { signal } = this.#closing;
    const drain_ms = drain_timeout_seconds * 1000;
    const stop = () => void app.stop(0).catch(() => {});
    signal.addEventListener('abort', stop, { once: true });
    await Promise.all([app.retire(drain_ms), mount.idle(drain_ms, signal)]);
    this.#deps.logger.info('old revision executes no more runs', { revision_id });
    await app.endHosts();
    tracked.hostsEnded();
    await mount.idle(FOREVER_MS, signal);
    signal.removeEventListener('abort', stop);
    await this.#end(served);
    this.#deps.logger.info('old revision ended', { revision_id });
  }
}

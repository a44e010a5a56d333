import { deploymentEnvironment } from '../../config/env.ts';
import type { Config } from '../../config/schema.ts';
import type { Clock } from '../../core/clock.ts';
import { ServerError } from '../../core/errors.ts';
import type { Ids } from '../../core/ids.ts';
import { closeAll } from '../../core/lifecycle.ts';
import type { Logger } from '../../core/logger.ts';
import { unlessAborted } from '../../core/timers.ts';
import { MountedServer } from '../../http/dispatch.ts';
import type { DataPlane, ServedRevision } from '../../services/deployments/data-plane.ts';
import type { KeyLookup } from '../../storage/access/api-keys.ts';
import type { DeploymentFiles } from '../../storage/deployments/files.ts';
import { type Foundation, openFoundation } from '../foundation.ts';
import type { ReplaceableApp } from '../lifecycle.ts';
import type { AppPlace } from '../place.ts';
import { checkFailure, reasonOf } from './check-failure.ts';
import { checkRevision } from './checks.ts';
import { revisionLogger } from './log.ts';
import { deploymentConfig } from './project.ts';
import { type Canary, type Served, Serving } from './serving.ts';

export type CreateApp = (
  config: Config,
  options: { logger: Logger; clock: Clock; ids: Ids },
  place: AppPlace,
) => Promise<ReplaceableApp>;

export interface SlotDeps {
  readonly server: Config;
  readonly createApp: CreateApp;
  readonly files: DeploymentFiles;
  readonly administrators: KeyLookup;
  readonly is_protected: boolean;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
}

type Activate = Parameters<DataPlane['deploy']>[1]['activate'];

/** The canary of when the server ended, if there was one. `end`: it is no canary any more. */
export interface ResumedCanary {
  readonly find: () => Promise<ServedRevision | undefined>;
  readonly end: (revision_id: string) => Promise<boolean>;
}

interface ReservedCanary {
  readonly canary: Canary;
  readonly revision: ServedRevision;
}

/** Bound of a wait that has no end of its own, ms: streams may last as long as their clients stay. */
const FOREVER_MS = 2 ** 31 - 1;

/** One deployment: its database, the app that serves it, and those that finish what they began. */
export class DeploymentSlot {
  readonly #deps: SlotDeps;
  readonly #name: string;
  readonly #closing = new AbortController();
  readonly #retiring = new Set<Promise<void>>();
  #foundation: Promise<Foundation> | undefined;
  #hasApps = false;
  readonly #serving: Serving;

  constructor(name: string, deps: SlotDeps) {
    this.#name = name;
    this.#deps = { ...deps, logger: deps.logger.with({ deployment: name }) };
    this.#serving = new Serving({
      revisionOf: (thread_id) => this.#revisionOf(thread_id),
      retire: (served, { at_once }) => this.#retireLater(served, at_once ? 0 : this.#drain_ms),
      onDecided: () => void this.#wakeWorkers(),
    });
  }

  /** See `Serving.withMount`. */
  withMount(url: string | undefined, act: (mount: MountedServer | undefined) => void): void {
    this.#serving.withMount(url, act);
  }

  /** See `DataPlane.deploy`. */
  async deploy(revision: ServedRevision, control: Parameters<DataPlane['deploy']>[1]): Promise<boolean> {
    const { log, onStep, activate, signal } = control;
    onStep('start');
    const next = await this.#open(revision, signal);
    try {
      signal.throwIfAborted();
      onStep('check');
      // Its hosts may never answer; they end with the app.
      const warnings = await unlessAborted(signal, checkRevision(next, this.#serving.current, revision));
      for (const warning of warnings) log('WARNING', warning);
      onStep('switch');
      if (await this.#activate(next, revision.canary_percent, activate)) return true;
    } catch (error) {
      await next.app.stop(0);
      throw error;
    }
    await next.app.stop(0);
    return false;
  }

  /** Serves what served when the server ended, without further checks. */
  async resume(revision: ServedRevision, canaries: ResumedCanary): Promise<void> {
    const next = await this.#open(revision);
    const reserved = await this.#serving.decide(() => {
      this.#serving.serve(next);
      // Before any run is claimed: those of the canary wait for it.
      return this.#reserve(canaries);
    });
    await this.#begin(next);
    if (reserved) await this.#resumeCanary(reserved, canaries);
  }

  /** See `DataPlane.promote`. */
  promote(revision_id: string, decide: () => Promise<boolean>): Promise<boolean> {
    return this.#serving.decide(async () => {
      const served = this.#serving.canary?.served;
      if (served?.revision_id !== revision_id || !(await decide())) return false;
      this.#serving.serve(served);
      return true;
    });
  }

  /** See `DataPlane.endCanary`. */
  endCanary(revision_id: string, decide: () => Promise<boolean>): Promise<boolean> {
    return this.#serving.decide(async () => {
      if (!(await decide())) return false;
      if (this.#serving.canary?.revision_id === revision_id) this.#serving.dropCanary({ at_once: true });
      return true;
    });
  }

  /** Ends streams and hosts; runs get `grace_ms` and wait for the next start then. */
  async close(grace_ms: number): Promise<void> {
    this.#closing.abort();
    const served = this.#serving.clear();
    await closeAll([
      () => Promise.all(served.map(({ app }) => app.stop(grace_ms))),
      () => Promise.all(this.#retiring),
      async () => (await this.#foundation)?.[Symbol.asyncDispose](),
    ]);
  }

  /** Creates the app of a revision, which does not work yet. Throws a `RevisionError`. `stop` ends it. */
  async #open(revision: ServedRevision, stop?: AbortSignal): Promise<Served> {
    const { server, files, createApp, administrators, clock, ids, logger } = this.#deps;
    const { revision_id } = revision;
    const home = files.home(this.#name);
    const config = await this.#configure(revision);
    const log = files.log(this.#name, revision_id, 'deploy');
    const foundation = await this.#openFoundation(config);
    const is_first = !this.#hasApps;
    this.#hasApps = true;
    const secrets = Object.values(revision.secrets);
    const options = { logger: revisionLogger(logger, { log, secrets, clock }), clock, ids };
    const environment = deploymentEnvironment(config.env, home);
    const scope = () => this.#serving.scopeOf(revision_id);
    const place = {
      foundation,
      is_first,
      scope,
      environment,
      server_root: server.root,
      administrators,
      stop,
    };
    stop?.throwIfAborted();
    const app = await createApp(config, options, place).catch((error: Error) => {
      if (error instanceof ServerError) throw error;
      const what = `The project cannot be started: ${reasonOf(error)}`;
      const advice = 'Correct it, and deploy again.';
      throw checkFailure({ code: 'start_failed', what, advice, cause: error }, 'start');
    });
    return { revision_id, config, app, mount: new MountedServer(app.server) };
  }

  async #configure(revision: ServedRevision): Promise<Config> {
    const { server, files, is_protected } = this.#deps;
    const database = await files.database(this.#name);
    return deploymentConfig(revision, { server, database, is_protected });
  }

  /** A failure to open it is that of one revision; the next one tries again. */
  #openFoundation(config: Config): Promise<Foundation> {
    const { clock, ids, logger } = this.#deps;
    const canary = () => this.#serving.rule();
    const options = { logger, clock, worker_id: ids.uuid4(), canary };
    this.#foundation ??= openFoundation(config, options).catch((error) => {
      this.#foundation = undefined;
      throw error;
    });
    return this.#foundation;
  }

  /** Returns false, and nothing has changed, if `activate` resolved to nothing. */
  async #activate(next: Served, percent: number | null, activate: Activate): Promise<boolean> {
    const isServing = await this.#serving.decide(async () => {
      const role = await activate();
      if (role === 'active') this.#serving.serve(next);
      if (role === 'canary') this.#serving.serveCanary({ ...next, percent: percent ?? 0, served: next });
      return role !== undefined;
    });
    if (isServing) await this.#begin(next);
    return isServing;
  }

  /** It may begin to claim runs. */
  async #begin(next: Served): Promise<void> {
    await next.app.ready();
    this.#deps.logger.info('revision serves', { revision_id: next.revision_id });
  }

  async #reserve({ find }: ResumedCanary): Promise<ReservedCanary | undefined> {
    const revision = await find();
    if (!revision) return undefined;
    const { revision_id, canary_percent } = revision;
    // What is wrong with it is said when it is opened.
    const config = await this.#configure(revision).catch(() => undefined);
    const canary: Canary = { revision_id, percent: canary_percent ?? 0, config, served: undefined };
    this.#serving.serveCanary(canary);
    return { canary, revision };
  }

  /** One that cannot start again ends, so that its runs need not wait for it. */
  async #resumeCanary({ canary, revision }: ReservedCanary, { end }: ResumedCanary): Promise<void> {
    const { revision_id } = revision;
    let served: Served | undefined;
    try {
      const opened = await this.#open(revision);
      served = opened;
      const isWanted = await this.#serving.decide(async () => {
        if (this.#serving.canary === canary) canary.served = opened;
        return this.#serving.canary === canary;
      });
      if (isWanted) await this.#begin(opened);
      else await opened.app.stop(0);
    } catch (error) {
      await served?.app.stop(0);
      if (this.#closing.signal.aborted) return;
      this.#deps.logger.error('a canary cannot be served, and ends', { revision_id, error });
      await this.endCanary(revision_id, () => end(revision_id));
    }
  }

  /** Of a thread. If it cannot be read the request fails for the same reason, wherever it goes. */
  async #revisionOf(thread_id: string): Promise<string | undefined> {
    try {
      return await (await this.#foundation)?.storage.threads.revisionOf(thread_id);
    } catch (error) {
      this.#deps.logger.warn('the revision of a thread cannot be read', { thread_id, error });
      return undefined;
    }
  }

  /** Runs and crons may be those of another app now. */
  async #wakeWorkers(): Promise<void> {
    const foundation = await this.#foundation?.catch(() => undefined);
    foundation?.bus.bus.emit('run.ready');
    foundation?.bus.bus.emit('schedule.changed');
  }

  get #drain_ms(): number {
    return this.#deps.server.deployments.drain_timeout_seconds * 1000;
  }

  #retireLater(before: Served, runs_ms: number): void {
    const retiring = this.#retire(before, runs_ms)
      .catch((error: unknown) =>
        this.#deps.logger.error('an old revision did not end as it should', { error }),
      )
      .finally(() => this.#retiring.delete(retiring));
    this.#retiring.add(retiring);
  }

  /** Runs end or are handed over, then requests that need hosts; streams go on until their clients have it all. */
  async #retire({ app, mount, revision_id }: Served, runs_ms: number): Promise<void> {
    const { signal } = this.#closing;
    const stop = () => void app.stop(0).catch(() => {});
    signal.addEventListener('abort', stop, { once: true });
    await Promise.all([app.retire(runs_ms), mount.idle(this.#drain_ms, signal)]);
    this.#deps.logger.info('old revision executes no more runs', { revision_id });
    await app.endHosts();
    await mount.idle(FOREVER_MS, signal);
    signal.removeEventListener('abort', stop);
    await app.stop(0);
    this.#deps.logger.info('old revision ended', { revision_id });
  }
}

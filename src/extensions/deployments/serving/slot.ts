import { closeAll } from '../../../core/lifecycle.ts';
import { sleep, timeoutSignal, unlessAborted } from '../../../core/timers.ts';
import type { MountedServer } from '../../../http/dispatch.ts';
import { deploymentSettings } from '../section.ts';
import { askAgain } from '../services/ask-again.ts';
import type { DataPlane, DeploymentActivity, ServedRevision } from '../services/plane.ts';
import { reasonOf } from './check-failure.ts';
import { checkRevision } from './checks.ts';
import { problemOf, type Served } from './live-revisions.ts';
import { PinnedRevisions } from './pinned-revisions.ts';
import { type ResumedCanary, untilAvailable } from './resumption.ts';
import { Retirement } from './retirement.ts';
import { RevisionApps, type SlotDeps } from './revision-apps.ts';
import { type Canary, graphIds, Serving, UNDECIDED } from './serving.ts';
import { startWorkers } from './worker-start.ts';

type Activate = Parameters<DataPlane['deploy']>[1]['activate'];

interface ReservedCanary {
  readonly canary: Canary;
  readonly revision: ServedRevision;
}

/** How long a new revision waits for the previously serving one, which loads after a restart, ms. */
const RESUME_GRACE_MS = 10_000;

/** One deployment: its database, its serving apps and its draining apps. */
export class DeploymentSlot {
  readonly #deps: SlotDeps;
  readonly #closing = new AbortController();
  readonly #retirement: Retirement;
  readonly #pins: PinnedRevisions;
  readonly #apps: RevisionApps;
  readonly #serving: Serving;
  /** Aborts when a revision serves: another that is still loading is no longer needed. */
  readonly #superseded = new AbortController();
  #resuming: Promise<void> = Promise.resolve();
  /** Why nothing serves: the previously serving revision failed to start again. */
  #failure: string | undefined;

  constructor(name: string, deps: SlotDeps) {
    const logger = deps.logger.with({ deployment: name });
    this.#deps = { ...deps, logger };
    const apps = new RevisionApps(name, this.#deps, {
      scopeOf: (revision_id) => serving.scopeOf(revision_id),
      rule: () => serving.rule(),
    });
    const end = (served: Served) => apps.end(served);
    const settings = deploymentSettings(deps.server);
    const drain_ms = settings.drain_timeout_seconds * 1000;
    const retirement = new Retirement({ drain_ms, closing: this.#closing.signal, end, logger });
    const onDecided = () => void apps.wakeWorkers();
    this.#pins = new PinnedRevisions({
      find: deps.findPinned,
      graphsOf: async (revision) => graphIds(await apps.configure(revision)),
      load: (revision, signal) => this.#loaded(revision, signal),
      begin: (served) => this.#begin(served),
      retire: (served) => retirement.begin(served, { at_once: false }),
      serving: () => ({ folder: serving.current?.folder, canary_id: serving.canary?.revision_id }),
      waitedFor: () => apps.revisionsWaitedFor(),
      onChanged: onDecided,
      idle_ms: settings.idle_timeout_seconds * 1000,
      ...{ end, clock: deps.clock, logger },
    });
    const serving = new Serving({
      pins: this.#pins,
      revisionsFor: (named) => apps.revisionsFor(named),
      retire: (served, how) => retirement.begin(served, how),
      onDecided,
      ...{ patience_ms: deps.patience_ms, logger },
    });
    this.#serving = serving;
    this.#apps = apps;
    this.#retirement = retirement;
  }

  /** Whether a revision answers requests. */
  get serves(): boolean {
    return this.#serving.current !== undefined;
  }

  /** See `Serving.withMount`. */
  withMount(url: string | undefined, act: (mount: MountedServer | undefined) => void): void {
    this.#serving.withMount(url, act);
  }

  /** See `DataPlane.foldersInUse`. */
  get foldersInUse(): string[] {
    return this.#apps.live.folders();
  }

  /** See `DataPlane.deploy`. */
  async deploy(revision: ServedRevision, control: Parameters<DataPlane['deploy']>[1]): Promise<boolean> {
    const { log, onStep, activate, signal } = control;
    onStep('start');
    const next = await this.#apps.open(revision, signal);
    try {
      signal.throwIfAborted();
      onStep('check');
      // The new revision is compared with the previous one, but does not wait for one that hangs.
      await Promise.race([this.#resuming, sleep(RESUME_GRACE_MS, signal)]);
      // Its hosts may never answer; they end with the app.
      const rules = { was_checked: revision.was_checked, keeps_threads: this.#pins.isOn };
      const warnings = await unlessAborted(signal, checkRevision(next, this.#serving.current, rules));
      for (const warning of warnings) log('WARNING', warning);
      onStep('switch');
      if (await this.#activate(next, revision.canary_percent, activate)) return true;
    } catch (error) {
      await this.#apps.end(next);
      throw error;
    }
    await this.#apps.end(next);
    return false;
  }

  /** See `DataPlane.activity`. */
  async activity(): Promise<DeploymentActivity> {
    // A client that knows of the new revision must not see the old one as serving.
    const isDecided = await this.#serving.decided();
    const revisions = this.#apps.live.list();
    if (!isDecided) return { revisions, queue: undefined, problem: UNDECIDED };
    const { current } = this.#serving;
    if (!current) {
      const isStarting = revisions.some(({ state }) => state === 'starting');
      const problem = isStarting ? 'Its revision is starting.' : (this.#failure ?? 'No revision serves it.');
      return { revisions, queue: undefined, problem };
    }
    const { app } = current;
    const [problem, { n_pending, n_running }] = await Promise.all([problemOf(app), app.engine.queueCounts()]);
    return { revisions, queue: { pending: n_pending, running: n_running }, problem };
  }

  /**
   * Resumes the revision that served before the restart, without further checks, unless another one serves before it
   * has loaded. Rejects if it does not load within `limit_ms` after the database becomes available. Then resumes the
   * canary, if there was one.
   */
  async resume(
    revision: ServedRevision,
    { limit_ms, canaries }: { readonly limit_ms: number; readonly canaries: ResumedCanary },
  ): Promise<void> {
    const ended = AbortSignal.any([this.#superseded.signal, this.#closing.signal]);
    const attempt = () => {
      const late = timeoutSignal(limit_ms);
      const signal = AbortSignal.any([late, ended]);
      return this.#resume(revision, canaries, signal).catch((error: unknown) => {
        const isLate = late.aborted && signal.reason === late.reason;
        const text = `it did not load within ${limit_ms / 1000} seconds`;
        const failure = isLate ? new Error(text, { cause: error }) : (error as Error);
        this.#failure = reasonOf(failure);
        throw failure;
      });
    };
    const resuming = untilAvailable(attempt, { ended, logger: this.#deps.logger });
    this.#resuming = resuming.then(() => {}).catch(() => {});
    const reserved = await resuming;
    if (reserved) await this.#resumeCanary(reserved, canaries, limit_ms);
  }

  /** See `DataPlane.promote`. */
  promote(revision_id: string, decide: () => Promise<boolean>): Promise<boolean> {
    return this.#serving.decideSoon(async () => {
      const served = this.#serving.canary?.served;
      if (served?.revision_id !== revision_id || !(await this.#decision(decide))) return false;
      this.#serving.serve(served);
      return true;
    });
  }

  /** See `DataPlane.endCanary`. */
  endCanary(revision_id: string, decide: () => Promise<boolean>): Promise<boolean> {
    return this.#serving.decideSoon(async () => {
      if (!(await this.#decision(decide))) return false;
      if (this.#serving.canary?.revision_id === revision_id) this.#serving.dropCanary({ at_once: true });
      return true;
    });
  }

  #decision<T>(decide: () => Promise<T>): Promise<T> {
    return askAgain(decide, this.#closing.signal);
  }

  /** Rereads whether threads stay with their revision, and which revisions are kept. */
  async refreshPins(): Promise<void> {
    await this.#serving.decide(() => this.#pins.refresh());
  }

  /** Ends streams and hosts; runs get `grace_ms`, and then wait for the next start. */
  async close(grace_ms: number): Promise<void> {
    this.#closing.abort();
    await this.#resuming;
    const served = [...this.#serving.clear(), ...(await this.#pins.close())];
    await closeAll([
      () => Promise.all(served.map((each) => this.#apps.end(each, grace_ms))),
      () => this.#retirement.untilEnded(),
      async () => (await this.#apps.foundation)?.[Symbol.asyncDispose](),
    ]);
  }

  async #resume(
    revision: ServedRevision,
    canaries: ResumedCanary,
    signal: AbortSignal,
  ): Promise<ReservedCanary | undefined> {
    const next = await this.#loaded(revision, signal).catch((error: unknown) => {
      if (!this.#closing.signal.aborted && !this.#superseded.signal.aborted) throw error;
    });
    if (!next) return undefined;
    let reserved: ReservedCanary | undefined;
    const decided = this.#serving.decide(async () => {
      if (signal.aborted) return false;
      // Before any run is claimed: the runs of the canary and of earlier revisions wait for them.
      reserved = await this.#reserve(canaries);
      await this.#pins.refresh();
      this.#serve(next);
      if (reserved) this.#serving.serveCanary(reserved.canary);
      return true;
    });
    const isWanted = await decided.catch(async (error: unknown) => {
      await this.#apps.end(next);
      throw error;
    });
    if (isWanted) await this.#begin(next);
    else await this.#apps.end(next);
    return reserved;
  }

  async #loaded(revision: ServedRevision, signal: AbortSignal): Promise<Served> {
    const next = await this.#apps.open(revision, signal);
    // A project that fails to load is reported by its graphs.
    const loaded = next.app.loaded().catch(() => {});
    try {
      await unlessAborted(signal, loaded);
    } catch (error) {
      await this.#apps.end(next);
      throw error;
    }
    return next;
  }

  /** Returns false, with nothing changed, if `activate` resolves to `undefined`. */
  async #activate(next: Served, percent: number | null, activate: Activate): Promise<boolean> {
    const isServing = await this.#serving.decide(async () => {
      await this.#pins.refresh();
      const role = await this.#decision(activate);
      if (role === 'active') this.#serve(next);
      if (role === 'canary') this.#serving.serveCanary({ ...next, percent: percent ?? 0, served: next });
      return role !== undefined;
    });
    if (isServing) await this.#begin(next);
    return isServing;
  }

  /** Part of a decision. */
  #serve(next: Served): void {
    this.#serving.serve(next);
    this.#superseded.abort();
  }

  /** See `startWorkers`. */
  #begin(next: Served): Promise<void> {
    return startWorkers(next, { closing: this.#closing.signal, logger: this.#deps.logger });
  }

  async #reserve({ find }: ResumedCanary): Promise<ReservedCanary | undefined> {
    const revision = await find();
    if (!revision) return undefined;
    const { revision_id, canary_percent } = revision;
    // Its problems are reported when it is opened.
    const config = await this.#apps.configure(revision).catch(() => undefined);
    const canary: Canary = { revision_id, percent: canary_percent ?? 0, config, served: undefined };
    return { canary, revision };
  }

  /** A canary that does not restart within `limit_ms` ends, so that its runs need not wait for it. */
  async #resumeCanary(
    { canary, revision }: ReservedCanary,
    { end }: ResumedCanary,
    limit_ms: number,
  ): Promise<void> {
    const { revision_id } = revision;
    const ended = this.#closing.signal;
    const attempt = () => this.#loaded(revision, AbortSignal.any([timeoutSignal(limit_ms), ended]));
    try {
      const opened = await untilAvailable(attempt, { ended, logger: this.#deps.logger });
      if (!opened) return;
      const isWanted = await this.#serving.decide(async () => {
        const isCanary = this.#serving.canary === canary;
        if (isCanary) this.#serving.startCanary(canary, opened);
        return isCanary;
      });
      if (isWanted) await this.#begin(opened);
      else await this.#apps.end(opened);
    } catch (error) {
      if (this.#closing.signal.aborted) return;
      this.#deps.logger.error('cannot serve a canary, ending it', { revision_id, error });
      await this.endCanary(revision_id, () => end(revision_id));
    }
  }
}

import type { Clock } from '../../../core/clock.ts';
import { isTemporary } from '../../../core/failure-class.ts';
import type { Logger } from '../../../core/logger.ts';
import { sleep, timeoutSignal } from '../../../core/timers.ts';
import { Loop } from '../../../workers/loop.ts';
import type { ExecutingRevision } from '../canary.ts';
import type { ServedRevision } from '../services/plane.ts';
import type { Served } from './live-revisions.ts';

/** A revision whose build is kept, so that threads may stay with it. */
interface StoredRevision extends ExecutingRevision {
  readonly revision: ServedRevision;
}

export interface PinnedRevisionsDeps {
  /** Deployed revisions whose builds are kept; `undefined` if threads follow the active one. */
  readonly find: () => Promise<readonly ServedRevision[] | undefined>;
  /** Returns the graph ids of a revision. Rejects if its configuration is invalid. */
  readonly graphsOf: (revision: ServedRevision) => Promise<ReadonlySet<string>>;
  /** Opens the app with the project loaded; it claims nothing yet. Aborts with the signal. */
  readonly load: (revision: ServedRevision, signal: AbortSignal) => Promise<Served>;
  /** Lets the app claim runs. Does not reject. */
  readonly begin: (served: Served) => Promise<void>;
  readonly end: (served: Served) => Promise<void>;
  /** Drains runs and requests of the app, then stops it. */
  readonly retire: (served: Served) => void;
  /** The active revision and the canary, which are served anyway. */
  readonly serving: () => { readonly folder: string | undefined; readonly canary_id: string | undefined };
  /** Returns the ids of revisions that runs wait for. */
  readonly waitedFor: () => Promise<readonly string[]>;
  /** Called when runs may belong to another app. */
  readonly onChanged: () => void;
  readonly clock: Clock;
  readonly logger: Logger;
  /** How long an unused revision keeps its processes, ms. */
  readonly idle_ms: number;
  /** How long a request waits for its revision, ms; half a minute by default. */
  readonly request_ms?: number;
}

/** Time limit for loading a revision, ms; one that takes longer counts as broken. */
const LOAD_MS = 10 * 60_000;
/** How long a request waits for its revision, which continues to load, ms. */
const REQUEST_MS = 30_000;
/** Poll interval for runs that wait for a revision, ms. */
const CHECK_MS = 1_000;
/** Interval at which the kept builds are reread, ms. */
const REFRESH_MS = 10_000;

/** An earlier revision that serves the threads started with it. */
interface Held {
  readonly served: Served;
  /** Time of the last use, monotonic ms. */
  needed_at: number;
}

/** Earlier revisions of a deployment; each has processes from its first use until it is idle. */
export class PinnedRevisions {
  readonly #deps: PinnedRevisionsDeps;
  readonly #closing = new AbortController();
  readonly #held = new Map<string, Held>();
  readonly #loading = new Map<string, Promise<Served | undefined>>();
  /** Revisions that failed to load: their threads follow the active one until the server restarts. */
  readonly #failed = new Set<string>();
  readonly #loop: Loop;
  #stored: ReadonlyMap<string, StoredRevision> | undefined;
  #refreshed_at = Number.NEGATIVE_INFINITY;

  constructor(deps: PinnedRevisionsDeps) {
    this.#deps = deps;
    const { logger } = deps;
    this.#loop = new Loop({ name: 'check of pinned revisions', tick: () => this.#tick(), logger });
  }

  /** Whether threads stay with their revision. */
  get isOn(): boolean {
    return this.#stored !== undefined;
  }

  /**
   * Maps revisions of threads to the revision that executes their runs. A rollback reuses the build of an earlier one.
   */
  executing(active: ExecutingRevision, folder: string): ReadonlyMap<string, ExecutingRevision> | undefined {
    if (!this.#stored) return undefined;
    const executing = (each: StoredRevision) => (each.revision.folder === folder ? active : each);
    return new Map([...this.#stored].map(([id, each]) => [id, executing(each)]));
  }

  /** Ids of the revisions that execute other code than the folder of the active one. */
  others(folder: string): string[] {
    const all = [...(this.#stored?.values() ?? [])];
    return all.filter(({ revision }) => revision.folder !== folder).map(({ revision_id }) => revision_id);
  }

  /** Whether a kept revision executes the code in this folder. */
  isCodeIn(folder: string, revision_id: string): boolean {
    return this.#stored?.get(revision_id)?.revision.folder === folder;
  }

  /** Ids of the revisions that serve the same code as this one. */
  sameCode({ folder }: Pick<Served, 'folder'>): string[] {
    return [...this.#held].filter(([, { served }]) => served.folder === folder).map(([id]) => id);
  }

  /** Rereads which revisions are kept, and retires the others. Does not reject: on failure nothing changes. */
  async refresh(): Promise<void> {
    this.#refreshed_at = this.#deps.clock.monotonic();
    try {
      const revisions = await this.#deps.find();
      const stored =
        revisions && (await Promise.all(revisions.map((revision) => this.#storedRevision(revision))));
      if (this.#closing.signal.aborted) return;
      this.#stored = stored && new Map(stored.flat().map((each) => [each.revision_id, each]));
    } catch (error) {
      this.#deps.logger.warn('cannot read the revisions that threads stay with', { error });
      return;
    }
    for (const id of this.#held.keys()) if (!this.#stored?.has(id)) this.drop(id);
    if (this.#stored) this.#loop.start();
  }

  /** Keeps a revision that just stopped serving for its threads. Returns false if its build is not kept. */
  hold(served: Served): boolean {
    if (!this.#stored?.has(served.revision_id)) return false;
    this.#held.set(served.revision_id, { served, needed_at: this.#deps.clock.monotonic() });
    return true;
  }

  /**
   * Returns the app of a kept revision, loading it if necessary; `undefined` if it cannot be served, or not yet. Does not
   * reject.
   */
  open(revision_id: string): Promise<Served | undefined> {
    const held = this.#held.get(revision_id);
    if (held) {
      held.needed_at = this.#deps.clock.monotonic();
      return Promise.resolve(held.served);
    }
    const loading = this.#loading.get(revision_id) ?? this.#load(revision_id);
    this.#loading.set(revision_id, loading);
    return loading.finally(() => this.#loading.delete(revision_id));
  }

  /** As `open`, for a request: `late` if the revision is still loading after a while, or could not be loaded for now. */
  openForRequest(revision_id: string): Promise<Served | undefined | 'late'> {
    const late = sleep(this.#deps.request_ms ?? REQUEST_MS, this.#closing.signal).then(() => 'late' as const);
    const opened = this.open(revision_id).then(
      (served) => served ?? (this.#hasBuild(revision_id) ? 'late' : undefined),
    );
    return Promise.race([opened, late]);
  }

  #hasBuild(revision_id: string): boolean {
    return this.#stored?.has(revision_id) === true;
  }

  /** Retires a revision: it no longer serves its threads, or the active one does. */
  drop(revision_id: string): void {
    const held = this.#held.get(revision_id);
    this.#held.delete(revision_id);
    if (held) this.#deps.retire(held.served);
  }

  /** Stops serving. Returns the revisions that were served. */
  async close(): Promise<Served[]> {
    this.#closing.abort();
    await this.#loop.stop();
    await Promise.all(this.#loading.values());
    const served = [...this.#held.values()].map((each) => each.served);
    this.#held.clear();
    return served;
  }

  async #storedRevision(revision: ServedRevision): Promise<StoredRevision[]> {
    const { revision_id } = revision;
    if (this.#failed.has(revision_id)) return [];
    const known = this.#stored?.get(revision_id);
    // Its secrets may have changed.
    if (known) return [{ ...known, revision }];
    // Its problems were reported when it was deployed.
    const graph_ids = await this.#deps.graphsOf(revision).catch(() => undefined);
    return graph_ids ? [{ revision_id, graph_ids, revision }] : [];
  }

  async #load(revision_id: string): Promise<Served | undefined> {
    const { load, begin, end, onChanged, clock, logger } = this.#deps;
    const revision = this.#stored?.get(revision_id)?.revision;
    if (!revision || this.#closing.signal.aborted) return undefined;
    try {
      const signal = AbortSignal.any([timeoutSignal(LOAD_MS), this.#closing.signal]);
      const served = await load(revision, signal);
      for (const [graph_id, cause] of served.app.graphs.loadErrors()) {
        await end(served);
        throw new Error(`The graph "${graph_id}" cannot be loaded`, { cause });
      }
      if (!this.#stored?.has(revision_id) || this.#closing.signal.aborted) {
        await end(served);
        return undefined;
      }
      served.tracked.enter('serving');
      this.#held.set(revision_id, { served, needed_at: clock.monotonic() });
      await begin(served);
      return served;
    } catch (error) {
      this.drop(revision_id);
      if (this.#closing.signal.aborted) return undefined;
      if (isTemporary(error)) {
        logger.warn('cannot serve an earlier revision yet: its threads wait', { revision_id, error });
        return undefined;
      }
      logger.error('cannot serve an earlier revision: its threads continue in the active one', {
        ...{ revision_id, error },
      });
      this.#failed.add(revision_id);
      this.#stored = new Map([...(this.#stored ?? [])].filter(([id]) => id !== revision_id));
      onChanged();
      return undefined;
    }
  }

  /** Loads revisions whose runs are due or were left by an earlier process, and retires idle ones. */
  async #tick(): Promise<number> {
    if (!this.#stored) return REFRESH_MS;
    if (this.#deps.clock.monotonic() - this.#refreshed_at >= REFRESH_MS) await this.refresh();
    const { waitedFor, serving, clock, idle_ms } = this.#deps;
    const waited = await waitedFor();
    const { folder, canary_id } = serving();
    if (folder === undefined) return CHECK_MS;
    const others = this.others(folder).filter((id) => id !== canary_id);
    await Promise.all(others.filter((id) => waited.includes(id)).map((id) => this.open(id)));
    const now = clock.monotonic();
    for (const [id, held] of this.#held) {
      const { app, mount } = held.served;
      if (waited.includes(id) || app.engine.workers().active > 0 || mount.open > 0) held.needed_at = now;
      else if (now - held.needed_at >= idle_ms) this.drop(id);
    }
    return CHECK_MS;
  }
}

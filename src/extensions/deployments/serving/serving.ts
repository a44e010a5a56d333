import type { Config } from '../../../config/schema.ts';
import { Unavailable } from '../../../core/errors.ts';
import type { Logger } from '../../../core/logger.ts';
import { sleep } from '../../../core/timers.ts';
import { canonicalUrl } from '../../../http/canonical-url.ts';
import type { MountedServer } from '../../../http/dispatch.ts';
import type { ExecutorScope } from '../../../storage/queue/placement.ts';
import type { ExecutingRevision, RevisionRule } from '../canary.ts';
import type { Served } from './live-revisions.ts';
import type { PinnedRevisions } from './pinned-revisions.ts';

/** A revision that receives a share of new threads and stateless runs, alongside the current one. */
export interface Canary {
  readonly revision_id: string;
  /** Share, percent. */
  readonly percent: number;
  /** `undefined` if it is no longer valid: it receives nothing new. */
  readonly config: Config | undefined;
  /** `undefined` while it restarts: its runs wait for it. */
  served: Served | undefined;
}

export interface ServingDeps {
  /** Earlier revisions that threads stay with. */
  readonly pins: PinnedRevisions;
  /** Returns candidates to answer a request, best first; the current revision if none serves. Does not reject. */
  readonly revisionsFor: (named: NamedInPath) => Promise<readonly string[]>;
  /** `at_once`: hands its runs over at their next checkpoint, without a grace period. */
  readonly retire: (served: Served, how: { readonly at_once: boolean }) => void;
  /** Called after each decision: runs and crons may belong to another app. */
  readonly onDecided: () => void;
  /** How long a request waits for a decision, ms; five seconds by default. */
  readonly patience_ms?: number | undefined;
  readonly logger: Logger;
}

/** Why nothing answers while a decision is pending. */
export const UNDECIDED = 'A switch waits for the database, which does not respond.';

/** A decision takes milliseconds, unless the database does not answer. */
const PATIENCE_MS = 5_000;

/** Ids in the path of a request. */
export interface NamedInPath {
  readonly thread_id: string;
  /** The run whose graph is requested. */
  readonly run_id: string | undefined;
}

type Answer = (mount: MountedServer | undefined) => void;

/** Which revisions of a deployment serve, and which requests each one receives. */
export class Serving {
  readonly #deps: ServingDeps;
  #current: Served | undefined;
  #canary: Canary | undefined;
  /** Pending decision about which revisions serve; `late` resolves to false once requests no longer wait for it. */
  #deciding: { readonly decided: Promise<true>; readonly late: Promise<false> } | undefined;

  constructor(deps: ServingDeps) {
    this.#deps = deps;
  }

  get current(): Served | undefined {
    return this.#current;
  }

  get canary(): Canary | undefined {
    return this.#canary;
  }

  /** Decisions are made one at a time, each with its change; requests wait for them, but not for long. */
  async decide<T>(change: () => Promise<T>): Promise<T> {
    const before = this.#deciding?.decided;
    const { promise: decided, resolve } = Promise.withResolvers<true>();
    const timer = new AbortController();
    const late = sleep(this.#deps.patience_ms ?? PATIENCE_MS, timer.signal).then(() => false as const);
    const deciding = { decided, late };
    this.#deciding = deciding;
    await before;
    try {
      return await change();
    } finally {
      if (this.#deciding === deciding) this.#deciding = undefined;
      resolve(true);
      timer.abort();
      this.#deps.onDecided();
    }
  }

  /** A decision for a client. Throws `Unavailable` if it stays pending: it is made all the same. */
  async decideSoon(change: () => Promise<boolean>): Promise<boolean> {
    const deciding = this.decide(change);
    deciding.catch((error: unknown) => this.#deps.logger.warn('a switch was not decided', { error }));
    const isDecided = await Promise.race([deciding.then(() => true), this.decided()]);
    if (!isDecided) throw new Unavailable(`${UNDECIDED} Send the request again.`);
    return deciding;
  }

  /** Waits for a pending decision. Returns false if it is still pending after a while. */
  async decided(): Promise<boolean> {
    while (this.#deciding !== undefined) {
      const { decided, late } = this.#deciding;
      if (!(await Promise.race([decided, late]))) return false;
    }
    return true;
  }

  /** Part of a decision. Retires the previous revision, unless a canary is promoted. */
  serve(next: Served): void {
    const before = this.#current;
    const isPromoted = this.#canary?.served === next;
    if (!isPromoted) next.tracked.enter('serving');
    this.#current = next;
    if (isPromoted) this.#canary = undefined;
    else this.dropCanary({ at_once: false });
    // A rollback reuses the build of an earlier revision, and now serves its threads.
    for (const id of this.#deps.pins.sameCode(next)) this.#deps.pins.drop(id);
    if (before && (before.folder === next.folder || !this.#deps.pins.hold(before)))
      this.#deps.retire(before, { at_once: false });
  }

  /** Part of a decision: adds a canary alongside the current revision. */
  serveCanary(canary: Canary): void {
    this.dropCanary({ at_once: false });
    this.#canary = canary;
    canary.served?.tracked.enter('serving');
  }

  /** Part of a decision: a canary has restarted. */
  startCanary(canary: Canary, served: Served): void {
    canary.served = served;
    served.tracked.enter('serving');
  }

  /** Part of a decision. */
  dropCanary(how: { readonly at_once: boolean }): void {
    const served = this.#canary?.served;
    this.#canary = undefined;
    if (served) this.#deps.retire(served, how);
  }

  /** Stops serving. Returns the revisions that served. */
  clear(): Served[] {
    const served = [this.#current, this.#canary?.served];
    this.#current = undefined;
    this.#canary = undefined;
    return served.filter((each) => each !== undefined);
  }

  /**
   * Calls `act` with the app for a request; `undefined` before the first revision serves, and if a decision stays
   * pending: a client that knows of the new revision must not get answers of the old one.
   */
  withMount(url: string | undefined, act: Answer): void {
    if (this.#deciding !== undefined)
      void this.decided().then((isDecided) => (isDecided ? this.withMount(url, act) : act(undefined)));
    else {
      const isOneOfSeveral = this.#canary?.served !== undefined || this.#deps.pins.isOn;
      const named = isOneOfSeveral ? namedIn(url) : undefined;
      if (named === undefined) act(this.#current?.mount);
      else void this.#deps.revisionsFor(named).then((revision_ids) => this.#pass(revision_ids, url, act));
    }
  }

  /** Which runs the app of a revision claims. */
  scopeOf(revision_id: string): ExecutorScope | undefined {
    const current = this.#current;
    if (current?.revision_id !== revision_id) return { only: revision_id };
    const canary = this.#canary ? [this.#canary.revision_id] : [];
    const others = [...canary, ...this.#deps.pins.others(current.folder)];
    return others.length === 0 ? undefined : { except: others };
  }

  /** How a new run is assigned to a revision; `undefined` if there is only one. */
  rule(): RevisionRule | undefined {
    const current = this.#current;
    const { pins } = this.#deps;
    if (!current || (!this.#canary && !pins.isOn)) return undefined;
    const active = executingRevision(current);
    const canary = this.#canary && { ...executingRevision(this.#canary), percent: this.#canary.percent };
    return { active, canary, pinned: pins.executing(active, current.folder) };
  }

  /** The serving revisions may have changed while the ids were read. */
  #pass([wanted, ...others]: readonly string[], url: string | undefined, act: Answer): void {
    const { pins } = this.#deps;
    const current = this.#current;
    const canary = this.#canary?.revision_id === wanted ? this.#canary : undefined;
    if (this.#deciding !== undefined) this.withMount(url, act);
    else if (!current || wanted === undefined || wanted === current.revision_id) act(current?.mount);
    else if (canary?.served) act(canary.served.mount);
    else if (canary) this.#pass(others, url, act);
    else if (pins.isCodeIn(current.folder, wanted)) act(current.mount);
    else if (!pins.others(current.folder).includes(wanted)) this.#pass(others, url, act);
    else
      void pins.openForRequest(wanted).then((held) => {
        // Another revision would execute other code than the thread was started with.
        if (held === 'late') act(undefined);
        else if (held) act(held.mount);
        else this.#pass(others, url, act);
      });
  }
}

function executingRevision({
  revision_id,
  config,
}: {
  readonly revision_id: string;
  readonly config: Config | undefined;
}): ExecutingRevision {
  return { revision_id, graph_ids: graphIds(config) };
}

/** Graph ids of a project's configuration; empty without one. */
export function graphIds(config: Config | undefined): ReadonlySet<string> {
  return new Set(config?.graphs.map(({ graph_id }) => graph_id));
}

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const NAMED = new RegExp(`/threads/(${UUID})(?:/runs/(${UUID})/(?:graph|schemas|subgraphs)/?$)?(?=/|$)`);

function namedIn(url = ''): NamedInPath | undefined {
  const [path = ''] = canonicalUrl(url).split('?', 1);
  const [, thread_id, run_id] = NAMED.exec(path.toLowerCase()) ?? [];
  return thread_id === undefined ? undefined : { thread_id, run_id };
}

import type { Config } from '../../config/schema.ts';
import { canonicalUrl } from '../../http/canonical-url.ts';
import type { MountedServer } from '../../http/dispatch.ts';
import type { ExecutingRevision, RevisionRule, RevisionScope } from '../../storage/queue/revision-rule.ts';
import type { Served } from './live-revisions.ts';
import type { PinnedRevisions } from './pinned-revisions.ts';

/** A revision that takes a share of what is new, beside the current one. */
export interface Canary {
  readonly revision_id: string;
  /** Share, percent. */
  readonly percent: number;
  /** `undefined` if it is not valid any more: it gets nothing new. */
  readonly config: Config | undefined;
  /** `undefined` while it starts again: its runs wait for it. */
  served: Served | undefined;
}

export interface ServingDeps {
  /** Earlier revisions that threads stay with. */
  readonly pins: PinnedRevisions;
  /** The revisions that should answer, the best one first; the current one if none of them serves. Does not reject. */
  readonly revisionsFor: (named: NamedInPath) => Promise<readonly string[]>;
  /** `at_once`: its runs are handed over at their next checkpoint, without time to end before. */
  readonly retire: (served: Served, how: { readonly at_once: boolean }) => void;
  /** Called after each decision: runs and crons may be those of another app. */
  readonly onDecided: () => void;
}

/** What a request names in its path. */
export interface NamedInPath {
  readonly thread_id: string;
  /** A run whose graph is asked for. */
  readonly run_id: string | undefined;
}

type Answer = (mount: MountedServer | undefined) => void;

/** Which revisions of a deployment serve, and what goes to which of them. */
export class Serving {
  readonly #deps: ServingDeps;
  #current: Served | undefined;
  #canary: Canary | undefined;
  /** While it is decided what serves. */
  #deciding: Promise<void> | undefined;

  constructor(deps: ServingDeps) {
    this.#deps = deps;
  }

  get current(): Served | undefined {
    return this.#current;
  }

  get canary(): Canary | undefined {
    return this.#canary;
  }

  /** Decisions about what serves come one after the other, each with its change; requests wait for them. */
  async decide<T>(change: () => Promise<T>): Promise<T> {
    const before = this.#deciding;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#deciding = promise;
    await before;
    try {
      return await change();
    } finally {
      if (this.#deciding === promise) this.#deciding = undefined;
      resolve();
      this.#deps.onDecided();
    }
  }

  /** Waits while it is decided what serves. */
  async decided(): Promise<void> {
    while (this.#deciding !== undefined) await this.#deciding;
  }

  /** Part of a decision. What served before retires, but for a canary that is promoted. */
  serve(next: Served): void {
    const before = this.#current;
    const isPromoted = this.#canary?.served === next;
    if (!isPromoted) next.tracked.enter('serving');
    this.#current = next;
    if (isPromoted) this.#canary = undefined;
    else this.dropCanary({ at_once: false });
    // A rollback has the build of an earlier revision, whose threads it serves now.
    for (const id of this.#deps.pins.sameCode(next)) this.#deps.pins.drop(id);
    if (before && (before.folder === next.folder || !this.#deps.pins.hold(before)))
      this.#deps.retire(before, { at_once: false });
  }

  /** Part of a decision: beside the revision that serves. */
  serveCanary(canary: Canary): void {
    this.dropCanary({ at_once: false });
    this.#canary = canary;
    canary.served?.tracked.enter('serving');
  }

  /** Part of a decision: a canary has started again. */
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

  /** Nothing serves any more. Returns what did. */
  clear(): Served[] {
    const served = [this.#current, this.#canary?.served];
    this.#current = undefined;
    this.#canary = undefined;
    return served.filter((each) => each !== undefined);
  }

  /**
   * Calls `act` with what answers a request; `undefined` before the first revision serves. While it is decided what
   * serves, it waits: who knows of the new revision must not be answered by the old one.
   */
  withMount(url: string | undefined, act: Answer): void {
    if (this.#deciding !== undefined) void this.#deciding.then(() => this.withMount(url, act));
    else {
      const isOneOfSeveral = this.#canary?.served !== undefined || this.#deps.pins.isOn;
      const named = isOneOfSeveral ? namedIn(url) : undefined;
      if (named === undefined) act(this.#current?.mount);
      else void this.#deps.revisionsFor(named).then((revision_ids) => this.#pass(revision_ids, url, act));
    }
  }

  /** Which runs the app of a revision claims now. */
  scopeOf(revision_id: string): RevisionScope | undefined {
    const current = this.#current;
    if (current?.revision_id !== revision_id) return { only: revision_id };
    const canary = this.#canary ? [this.#canary.revision_id] : [];
    const others = [...canary, ...this.#deps.pins.others(current.folder)];
    return others.length === 0 ? undefined : { except: others };
  }

  /** What a new run is assigned by; `undefined` if there is only one revision. */
  rule(): RevisionRule | undefined {
    const current = this.#current;
    const { pins } = this.#deps;
    if (!current || (!this.#canary && !pins.isOn)) return undefined;
    const active = executingRevision(current);
    const canary = this.#canary && { ...executingRevision(this.#canary), percent: this.#canary.percent };
    return { active, canary, pinned: pins.executing(active, current.folder) };
  }

  /** What serves may have changed while these were read. */
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
    else void pins.open(wanted).then((held) => (held ? act(held.mount) : this.#pass(others, url, act)));
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

/** Of what a project configures; none without it. */
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

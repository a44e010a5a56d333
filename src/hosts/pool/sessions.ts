import { LRUCache } from 'lru-cache';
import { systemClock } from '../../core/clock.ts';
import { type HostLost, LeaseLost } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import type { CheckpointAccess } from '../../graphs/checkpointer/checkpoint-access.ts';
import type { GraphStoreAccess } from '../../graphs/store/graph-store.ts';
import { checkpointPage } from '../protocol/checkpoints.ts';
import { fromWireError } from '../protocol/errors.ts';
import type { Params, ServerMethods } from '../protocol/messages.ts';
import type { Handlers } from '../protocol/peer.ts';

/** How long a host counts as busy after it reported so, ms: some of its runs write at most as often. */
const BUSY_MS = 100;

/** Sessions that are remembered after they were taken from the host. */
const REMEMBERED_SESSIONS = 10_000;

/** Permissions of a host for one run attempt or one request. */
export interface Session {
  /** Only for runs, and for requests about a state. */
  readonly checkpoints?: CheckpointAccess;
  /** Only for runs. */
  readonly run?: {
    readonly run_id: string;
    onEvents(events: Params<ServerMethods, 'run/events'>['events']): void;
    onOutput(output: Params<ServerMethods, 'run/output'>): void;
    onEnd(end: Params<ServerMethods, 'run/end'>): void;
    /** Called when the host has ended. */
    onLost(reason: HostLost): void;
  };
}

/** The open sessions of one host. Messages about any other session, such as one that has ended, have no effect. */
export class Sessions {
  readonly #open = new Map<number, Session>();
  /** Runs that were taken from the host, by session. */
  readonly #taken = new LRUCache<number, string>({ max: REMEMBERED_SESSIONS });
  /** Number of sessions of runs: each run asks for it of every host. */
  #runs = 0;
  #last = 0;
  #busyUntil = 0;
  #onEmpty: (() => void) | undefined;

  get size(): number {
    return this.#open.size;
  }

  get runs(): number {
    return this.#runs;
  }

  open(session: Session): { readonly id: number } & Disposable {
    const id = ++this.#last;
    const isRun = session.run === undefined ? 0 : 1;
    this.#open.set(id, session);
    this.#runs += isRun;
    return {
      id,
      [Symbol.dispose]: () => {
        if (this.#open.delete(id)) this.#runs -= isRun;
        if (this.#open.size === 0) this.#onEmpty?.();
      },
    };
  }

  /** The event loop of the host was busy when it sent the last message. */
  noteBusy(): void {
    this.#busyUntil = systemClock.monotonic() + BUSY_MS;
  }

  /** Whether it has reported this just now. */
  get isBusy(): boolean {
    return systemClock.monotonic() < this.#busyUntil;
  }

  /** Ids of the sessions of runs. */
  ofRuns(): number[] {
    return [...this.#open].flatMap(([id, { run }]) => (run ? [id] : []));
  }

  runIds(): string[] {
    return [...this.#open.values()].flatMap(({ run }) => (run ? [run.run_id] : []));
  }

  /** Ends sessions of runs with this error, although the host continues: whatever it still sends for them has no effect. */
  take(isTaken: (run_id: string) => boolean, reason: HostLost): { session: number; run_id: string }[] {
    const taken = [...this.#open].flatMap(([session, { run }]) =>
      run && isTaken(run.run_id) ? [{ session, run }] : [],
    );
    for (const { session, run } of taken) {
      this.#open.delete(session);
      this.#runs -= 1;
      this.#taken.set(session, run.run_id);
      run.onLost(reason);
    }
    if (taken.length > 0 && this.#open.size === 0) this.#onEmpty?.();
    return taken.map(({ session, run: { run_id } }) => ({ session, run_id }));
  }

  /** Whether a run was taken from the host, and has not come back. */
  wasTaken(run_id: string): boolean {
    return [...this.#taken.values()].includes(run_id) && !this.runIds().includes(run_id);
  }

  /** Throws if the run of a session was taken from the host: its next execution may have written since. */
  throwIfTaken(session: number): void {
    if (this.#taken.has(session)) throw new LeaseLost(`of session ${session}`);
  }

  /** Calls `act` when there is no session, at once if there is none. */
  whenEmpty(act: () => void): void {
    if (this.#open.size === 0) act();
    else this.#onEmpty = act;
  }

  find(id: number): Session | undefined {
    return this.#open.get(id);
  }

  /** Call when the host has ended: none of its runs continues. */
  fail(errorFor: (run_id: string) => HostLost): void {
    for (const { run } of this.#open.values()) run?.onLost(errorFor(run.run_id));
  }

  /** Throws for a session that has ended: its lease may belong to another process by now. */
  checkpoints(id: number): CheckpointAccess {
    const checkpoints = this.#open.get(id)?.checkpoints;
    if (!checkpoints) throw new LeaseLost(`of session ${id}`);
    return checkpoints;
  }
}

/** Handlers of what a host asks for: each reaches only what its session may. */
export function serverHandlers(
  sessions: Sessions,
  store: () => GraphStoreAccess,
  logger: Logger,
): Handlers<ServerMethods> {
  return {
    'run/events'({ session, busy, events }) {
      if (busy) sessions.noteBusy();
      sessions.find(session)?.run?.onEvents(events);
    },
    'run/output'(output) {
      const run = sessions.find(output.session)?.run;
      if (run) return run.onOutput(output);
      // The server abandoned the run before the host did.
      const { run_id } = output;
      for (const { level, message, node, at } of output.lines) logger[level](message, { run_id, node, at });
    },
    'run/end': (end) => {
      const session = sessions.find(end.session);
      if (end.steps) session?.checkpoints?.record(end.steps);
      session?.run?.onEnd(end);
    },

    async 'checkpoint/find'({ session, metadata, ...query }) {
      const filter = metadata === undefined ? {} : { metadata: JSON.parse(metadata) };
      return checkpointPage(await sessions.checkpoints(session).find({ ...query, ...filter }));
    },
    async 'checkpoint/ancestors'({ session, ...query }) {
      return checkpointPage(await sessions.checkpoints(session).ancestors(query), query.channels);
    },
    async 'checkpoint/put'({ session, durability, steps, busy, checkpoint }) {
      const checkpoints = sessions.checkpoints(session);
      if (busy) sessions.noteBusy();
      if (steps) checkpoints.record(steps);
      return { stored: await checkpoints.put(checkpoint, durability) };
    },
    async 'checkpoint/put_writes'({ session, durability, steps, busy, ...request }) {
      const checkpoints = sessions.checkpoints(session);
      if (busy) sessions.noteBusy();
      if (steps) checkpoints.record(steps);
      return { stored: await checkpoints.putWrites(request, durability) };
    },
    async 'checkpoint/delete_thread'({ session, thread_id }) {
      return { stored: await sessions.checkpoints(session).deleteThread(thread_id) };
    },

    async 'store/apply'({ session, changes }) {
      sessions.throwIfTaken(session);
      await store().apply(JSON.parse(changes));
      return {};
    },
    'store/get': async (address) => json(await store().get(address)),
    'store/search': async ({ query }) => json(await store().search(JSON.parse(query))),
    'store/namespaces': async ({ query }) => json(await store().namespaces(JSON.parse(query))),

    log({ level, message, fields, errors }) {
      const restored = Object.entries(errors).map(([name, error]) => [name, fromWireError(error)]);
      logger[level](message, { ...JSON.parse(fields), ...Object.fromEntries(restored) });
    },
  };
}

/** `undefined` becomes null. */
function json(value: unknown): { json: string } {
  return { json: JSON.stringify(value) ?? 'null' };
}

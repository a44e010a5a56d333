import { type HostLost, LeaseLost } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import type { CheckpointAccess } from '../../graphs/checkpointer/checkpoint-access.ts';
import type { GraphStoreAccess } from '../../graphs/store/graph-store.ts';
import { checkpointPage } from '../protocol/checkpoints.ts';
import { fromWireError } from '../protocol/errors.ts';
import type { Params, ServerMethods } from '../protocol/messages.ts';
import type { Handlers } from '../protocol/peer.ts';

/** What a host may do for one run attempt, or for one request about a state. */
export interface Session {
  readonly checkpoints: CheckpointAccess;
  /** Only of runs. */
  readonly run?: {
    readonly run_id: string;
    onEvents(events: Params<ServerMethods, 'run/events'>['events']): void;
    onEnd(end: Params<ServerMethods, 'run/end'>): void;
    /** The host has ended. */
    onLost(reason: HostLost): void;
  };
}

/** The open sessions of one host. What a host says of another session, such as one that has ended, has no effect. */
export class Sessions {
  readonly #open = new Map<number, Session>();
  #last = 0;
  #onEmpty: (() => void) | undefined;

  get size(): number {
    return this.#open.size;
  }

  open(session: Session): { readonly id: number } & Disposable {
    const id = ++this.#last;
    this.#open.set(id, session);
    return {
      id,
      [Symbol.dispose]: () => {
        this.#open.delete(id);
        if (this.#open.size === 0) this.#onEmpty?.();
      },
    };
  }

  /** Numbers of the sessions of runs. */
  ofRuns(): number[] {
    return [...this.#open].flatMap(([id, { run }]) => (run ? [id] : []));
  }

  runIds(): string[] {
    return [...this.#open.values()].flatMap(({ run }) => (run ? [run.run_id] : []));
  }

  /** Calls `act` when there is no session, at once if there is none. */
  whenEmpty(act: () => void): void {
    if (this.#open.size === 0) act();
    else this.#onEmpty = act;
  }

  find(id: number): Session | undefined {
    return this.#open.get(id);
  }

  /** The host has ended: none of its runs goes on. */
  fail(errorFor: (run_id: string) => HostLost): void {
    for (const { run } of this.#open.values()) run?.onLost(errorFor(run.run_id));
  }

  /** Throws for a session that has ended: its lease may belong to another process by now. */
  checkpoints(id: number): CheckpointAccess {
    const session = this.#open.get(id);
    if (!session) throw new LeaseLost(`of session ${id}`);
    return session.checkpoints;
  }
}

/** Handlers of what a host asks for: each reaches only what its session may. */
export function serverHandlers(
  sessions: Sessions,
  store: GraphStoreAccess,
  logger: Logger,
): Handlers<ServerMethods> {
  return {
    'run/events': ({ session, events }) => sessions.find(session)?.run?.onEvents(events),
    'run/end': (end) => sessions.find(end.session)?.run?.onEnd(end),

    async 'checkpoint/find'({ session, metadata, ...query }) {
      const filter = metadata === undefined ? {} : { metadata: JSON.parse(metadata) };
      return checkpointPage(await sessions.checkpoints(session).find({ ...query, ...filter }));
    },
    async 'checkpoint/ancestors'({ session, ...query }) {
      return checkpointPage(await sessions.checkpoints(session).ancestors(query), query.channels);
    },
    async 'checkpoint/put'({ session, durability, checkpoint }) {
      return { stored: await sessions.checkpoints(session).put(checkpoint, durability) };
    },
    async 'checkpoint/put_writes'({ session, durability, ...request }) {
      const writes = request.writes.map((write) => ({ ...write, task_id: request.task_id }));
      return { stored: await sessions.checkpoints(session).putWrites({ ...request, writes }, durability) };
    },
    async 'checkpoint/delete_thread'({ session, thread_id }) {
      return { stored: await sessions.checkpoints(session).deleteThread(thread_id) };
    },

    async 'store/apply'({ changes }) {
      await store.apply(JSON.parse(changes));
      return {};
    },
    'store/get': async (address) => json(await store.get(address)),
    'store/search': async ({ query }) => json(await store.search(JSON.parse(query))),
    'store/namespaces': async ({ query }) => json(await store.namespaces(JSON.parse(query))),

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

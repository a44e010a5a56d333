import { z } from 'zod';
import type { Actor } from '../../auth/actor.ts';
import type { Clock } from '../../core/clock.ts';
import type { Ids } from '../../core/ids.ts';
import { isObject } from '../../core/json.ts';
import type { Logger } from '../../core/logger.ts';
import { type ThreadSources, threadEnd } from '../../events/follow-thread.ts';
import {
  type EventStreamRequest,
  type Method,
  PARAMS,
  type Params,
  type ProtocolError,
  type ProtocolSuccess,
} from '../../schemas/event-streaming.ts';
import type { RunRepository } from '../../storage/runs/runs.ts';
import type { ThreadRepository } from '../../storage/threads/threads.ts';
import type { Once } from '../idempotency.ts';
import type { RunService } from '../runs.ts';
import type { ThreadStateService } from '../thread-state.ts';
import { translator } from './events.ts';
import { CommandFailed, commandError } from './failures.ts';
import { threadFeeds } from './feeds.ts';
import { eventFilter, wholeNumber } from './filter.ts';
import { allowListening } from './listening.ts';
import { runCommands } from './run-commands.ts';
import { stateCommands } from './state-commands.ts';
import { type EventSink, Subscriber } from './subscriber.ts';
import { subscriptionCommands } from './subscription-commands.ts';

export interface EventStreamingDeps {
  readonly runs: RunService;
  readonly threadState: ThreadStateService;
  readonly runRows: RunRepository;
  readonly threads: Pick<ThreadRepository, 'get' | 'standing'>;
  readonly sources: ThreadSources;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
}

export type EventStreamingService = ReturnType<typeof eventStreamingService>;

type Answer = ProtocolSuccess | ProtocolError;
type Verb = (
  actor: Actor,
  thread_id: string,
  params: unknown,
  once?: Once,
) => Promise<Record<string, unknown>>;

const BAD_ENVELOPE = 'Protocol commands must include an integer id and string method.';

/** Event streaming, also called protocol v2 (CONTRACT §7): the same commands and events over HTTP and WebSocket. */
export function eventStreamingService(deps: EventStreamingDeps) {
  const { sources, threads, runRows, clock, ids, logger } = deps;
  const verbs = verbsOf(deps);
  const feeds = threadFeeds({
    sources,
    translate: () => translator(runRows, clock),
    onError: (error) => logger.error('a thread can no longer be followed', { error }),
  });

  /**
   * `subscriber`: of the connection that the command came from, where subscriptions mean something. `once`: what the
   * same request made before is not made again.
   */
  async function command(
    actor: Actor,
    thread_id: string,
    envelope: unknown,
    { subscriber, once }: { subscriber?: Subscriber; once?: Once | undefined } = {},
  ): Promise<Answer> {
    const { id, method, params } = isObject(envelope) ? envelope : {};
    if (!Number.isInteger(id) || typeof method !== 'string') return badEnvelope(id);
    try {
      const verb = own(subscriptionCommands(subscriber, ids), method) ?? own(verbs, method);
      // On a connection it was asked when that was opened; the other verbs ask themselves.
      if (!subscriber && method.startsWith('subscription.')) await allowListening(threads, actor, thread_id);
      if (!verb) throw new CommandFailed('unknown_command', `Unknown protocol command: ${method}`);
      const result = await verb(actor, thread_id, params ?? {}, once);
      const meta = { thread_id, applied_through_seq: await threadEnd(sources, thread_id) };
      return { type: 'success', id: id as number, result, meta };
    } catch (error) {
      const answer = commandError(id as number, error);
      if (answer) return answer;
      logger.error('command failed', { method, thread_id, error });
      return { type: 'error', id: id as number, error: 'unknown_error', message: 'Internal Server Error' };
    }
  }

  return {
    command,

    /** What a request for events asks for. Throws `BadRequest`, and `NotFound` for somebody else's thread. */
    async open(actor: Actor, thread_id: string, request: EventStreamRequest) {
      const filter = eventFilter(request);
      const since = wholeNumber('since', request.since) ?? 0;
      return { thread_id, filter, since, guard: await allowListening(threads, actor, thread_id) };
    },

    /** Sends what the filter wants to the sink, from the past and as it happens, until abort. */
    async events(
      { thread_id, filter, since, guard }: Awaited<ReturnType<typeof this.open>>,
      sink: EventSink,
      signal: AbortSignal,
    ): Promise<void> {
      const refused = new AbortController();
      const subscriber = new Subscriber(guard(sink, () => refused.abort()));
      void subscriber.subscribe('', filter, since);
      await feeds.serve(thread_id, subscriber, AbortSignal.any([signal, refused.signal]));
    },

    /**
     * A connection that subscribes by commands; `served` rejects when events can no longer be had. Throws `NotFound` for
     * somebody else's thread.
     */
    async connect(actor: Actor, thread_id: string, sink: EventSink, signal: AbortSignal) {
      const guard = await allowListening(threads, actor, thread_id);
      const refused = new AbortController();
      const subscriber = new Subscriber(guard(sink, () => refused.abort()));
      return {
        served: feeds.serve(thread_id, subscriber, AbortSignal.any([signal, refused.signal])),
        command: (envelope: unknown) => command(actor, thread_id, envelope, { subscriber }),
      };
    },
  };
}

/** Also for text that is no JSON. */
export function badEnvelope(id: unknown, message = BAD_ENVELOPE): ProtocolError {
  const known = Number.isInteger(id) ? (id as number) : null;
  return { type: 'error', id: known, error: 'invalid_argument', message };
}

/** True for the answer to what was no command at all. */
export function isBadEnvelope(answer: Answer): boolean {
  return answer.type === 'error' && answer['message'] === BAD_ENVELOPE;
}

/** Not what every object has, such as `constructor`. */
function own(among: Record<string, Verb>, method: string): Verb | undefined {
  return Object.hasOwn(among, method) ? among[method] : undefined;
}

function verbsOf({ runs, runRows, threads, threadState, sources }: EventStreamingDeps): Record<string, Verb> {
  const run = runCommands({ runs, runRows, threads });
  const state = stateCommands({ threadState, runRows, log: sources.log });
  return {
    'run.start': checked('run.start', run.start),
    'input.respond': checked('input.respond', run.respond),
    'input.inject': checked('input.inject', run.inject),
    'agent.getTree': checked('agent.getTree', state.tree),
    'state.get': checked('state.get', state.get),
    'state.listCheckpoints': checked('state.listCheckpoints', state.listCheckpoints),
    'state.fork': checked('state.fork', run.fork),
  };
}

function checked<M extends Method>(
  method: M,
  verb: (actor: Actor, thread_id: string, params: Params<M>, once?: Once) => Promise<object>,
): Verb {
  return async (actor, thread_id, params, once) => {
    const parsed = PARAMS[method].safeParse(params);
    if (!parsed.success) {
      throw new CommandFailed('invalid_argument', `${method}: ${z.prettifyError(parsed.error)}`);
    }
    return { ...(await verb(actor, thread_id, parsed.data as Params<M>, once)) };
  };
}

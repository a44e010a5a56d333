import { z } from 'zod';
import type { Actor } from '../../auth/actor.ts';
import type { Clock } from '../../core/clock.ts';
import type { Ids } from '../../core/ids.ts';
import { isObject } from '../../core/json.ts';
import type { Logger } from '../../core/logger.ts';
import { lastThreadSeq, type ThreadFollowSources } from '../../events/follow-thread.ts';
import {
  type EventStreamRequest,
  METHOD_PARAMS,
  type Method,
  type Params,
  type ProtocolError,
  type ProtocolSuccess,
} from '../../schemas/event-streaming.ts';
import type { RunQueue } from '../../storage/queue/queue.ts';
import type { RunRepository } from '../../storage/runs/runs.ts';
import type { ThreadRepository } from '../../storage/threads/threads.ts';
import type { IdempotencyContext } from '../idempotency.ts';
import type { RunService } from '../runs/runs.ts';
import type { ThreadStateService } from '../threads/thread-state.ts';
import { authorizeSubscriber } from './authorization-gate.ts';
import { threadBroadcasts } from './broadcast.ts';
import { CommandError, toProtocolError } from './command-errors.ts';
import { eventFilter, wholeNumber } from './filter.ts';
import { translator } from './protocol-events.ts';
import { runCommands } from './run-commands.ts';
import { stateCommands } from './state-commands.ts';
import { type EventSink, Subscriber } from './subscriber.ts';
import { subscriptionCommands } from './subscription-commands.ts';

export interface EventStreamingDeps {
  readonly runs: RunService;
  readonly threadState: ThreadStateService;
  readonly runRows: RunRepository;
  readonly threads: ThreadRepository;
  readonly queue: RunQueue;
  readonly sources: ThreadFollowSources;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
}

export type EventStreamingService = ReturnType<typeof eventStreamingService>;

type Answer = ProtocolSuccess | ProtocolError;
type CommandHandler = (
  actor: Actor,
  thread_id: string,
  params: unknown,
  idempotency?: IdempotencyContext,
) => Promise<Record<string, unknown>>;

const BAD_ENVELOPE = 'Protocol commands must include an integer id and string method.';

/** Event streaming, also called protocol v2 (contract §7): the same commands and events over HTTP and WebSocket. */
export function eventStreamingService(deps: EventStreamingDeps) {
  const { sources, threads, runRows, clock, ids, logger } = deps;
  const handlers = commandHandlers(deps);
  const broadcasts = threadBroadcasts({
    sources,
    translate: () => translator({ runs: runRows, log: sources.log, clock }),
    onError: (error) => logger.error('cannot follow a thread any longer', { error }),
  });

  /**
   * `subscriber`: the connection that sent the command, for subscription commands. `idempotencyContext`: keeps a
   * retried request from creating a second run.
   */
  async function command(
    actor: Actor,
    thread_id: string,
    envelope: unknown,
    {
      subscriber,
      idempotencyContext: idempotency,
    }: { subscriber?: Subscriber; idempotencyContext?: IdempotencyContext | undefined } = {},
  ): Promise<Answer> {
    const { id, method, params } = isObject(envelope) ? envelope : {};
    if (!Number.isInteger(id) || typeof method !== 'string') return badEnvelope(id);
    try {
      const handler =
        ownHandler(subscriptionCommands(subscriber, ids), method) ?? ownHandler(handlers, method);
      // A connection is authorized when it opens; the other commands authorize themselves.
      if (!subscriber && method.startsWith('subscription.'))
        await authorizeSubscriber(threads, actor, thread_id);
      if (!handler) throw new CommandError('unknown_command', `Unknown protocol command: ${method}`);
      const result = await handler(actor, thread_id, params ?? {}, idempotency);
      const meta = { thread_id, applied_through_seq: await lastThreadSeq(sources, thread_id) };
      return { type: 'success', id: id as number, result, meta };
    } catch (error) {
      const answer = toProtocolError(id as number, error);
      if (answer) return answer;
      logger.error('command failed', { method, thread_id, error });
      return { type: 'error', id: id as number, error: 'unknown_error', message: 'Internal Server Error' };
    }
  }

  return {
    command,

    /** Validates and authorizes an event request. Throws `BadRequest`, and `NotFound` if the thread is hidden. */
    async open(actor: Actor, thread_id: string, request: EventStreamRequest) {
      const filter = eventFilter(request);
      const since = wholeNumber('since', request.since) ?? 0;
      return { thread_id, filter, since, access: await authorizeSubscriber(threads, actor, thread_id) };
    },

    /** Replays past events that match the filter, then follows live ones, until abort. */
    async events(
      { thread_id, filter, since, access }: Awaited<ReturnType<typeof this.open>>,
      sink: EventSink,
      signal: AbortSignal,
    ): Promise<void> {
      const subscriber = new Subscriber(sink, { access });
      void subscriber.subscribe('', filter, since);
      await broadcasts.serve(thread_id, subscriber, AbortSignal.any([signal, subscriber.refused]));
    },

    /**
     * A connection that subscribes by commands; `served` rejects if events become unavailable. `command` takes the
     * actor of each, who may have lost rights since the connection opened. Throws `NotFound` if the thread is hidden.
     */
    async connect(actor: Actor, thread_id: string, sink: EventSink, signal: AbortSignal) {
      const access = await authorizeSubscriber(threads, actor, thread_id);
      const subscriber = new Subscriber(sink, { access });
      return {
        served: broadcasts.serve(thread_id, subscriber, AbortSignal.any([signal, subscriber.refused])),
        command: (envelope: unknown, caller: Actor) => command(caller, thread_id, envelope, { subscriber }),
      };
    },
  };
}

/** Also answers text that is not JSON. */
export function badEnvelope(id: unknown, message = BAD_ENVELOPE): ProtocolError {
  const known = Number.isInteger(id) ? (id as number) : null;
  return { type: 'error', id: known, error: 'invalid_argument', message };
}

/** True for the answer to a malformed envelope. */
export function isBadEnvelope(answer: Answer): boolean {
  return answer.type === 'error' && answer['message'] === BAD_ENVELOPE;
}

/** Own properties only: excludes inherited names such as `constructor`. */
function ownHandler(among: Record<string, CommandHandler>, method: string): CommandHandler | undefined {
  return Object.hasOwn(among, method) ? among[method] : undefined;
}

function commandHandlers({
  runs,
  runRows,
  threads,
  threadState,
  queue,
  sources,
}: EventStreamingDeps): Record<string, CommandHandler> {
  const run = runCommands({ runs, runRows, threads, queue });
  const state = stateCommands({ threadState, runRows, log: sources.log });
  return {
    'run.start': validated('run.start', run.start),
    'input.respond': validated('input.respond', run.respond),
    'input.inject': validated('input.inject', run.inject),
    'agent.getTree': validated('agent.getTree', state.tree),
    'state.get': validated('state.get', state.get),
    'state.listCheckpoints': validated('state.listCheckpoints', state.listCheckpoints),
    'state.fork': validated('state.fork', run.fork),
  };
}

function validated<M extends Method>(
  method: M,
  handler: (
    actor: Actor,
    thread_id: string,
    params: Params<M>,
    idempotency?: IdempotencyContext,
  ) => Promise<object>,
): CommandHandler {
  return async (actor, thread_id, params, idempotency) => {
    const parsed = METHOD_PARAMS[method].safeParse(params);
    if (!parsed.success) {
      throw new CommandError('invalid_argument', `${method}: ${z.prettifyError(parsed.error)}`);
    }
    return { ...(await handler(actor, thread_id, parsed.data as Params<M>, idempotency)) };
  };
}

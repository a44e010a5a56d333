import type { Actor } from '../../auth/actor.ts';
import { BadRequest } from '../../core/errors.ts';
import type { Ids } from '../../core/ids.ts';
import { isObject } from '../../core/json.ts';
import type { EventStreamRequest } from '../../schemas/event-streaming.ts';
import { CommandError } from './command-errors.ts';
import { eventFilter, wholeNumber } from './filter.ts';
import type { Subscriber } from './subscriber.ts';

type CommandHandler = (actor: Actor, thread_id: string, params: unknown) => Promise<Record<string, unknown>>;

/** Bounds memory: a connection stores the ids that its client chooses. */
const MAX_ID_LENGTH = 1000;

/**
 * Subscription commands of a connection. Over HTTP they are accepted without effect, as on the official server, because
 * each event request is its own subscription.
 */
export function subscriptionCommands(
  subscriber: Subscriber | undefined,
  ids: Ids,
): Record<string, CommandHandler> {
  /** Replays past events, then answers, then follows live events. */
  async function subscribe(subscription_id: string, request: unknown) {
    const { filter, since } = requestOf(request);
    const replayed_events = subscriber ? await subscriber.subscribe(subscription_id, filter, since) : 0;
    return { subscription_id, replayed_events };
  }

  return {
    'subscription.subscribe': (_actor, _thread_id, params) => subscribe(ids.uuid4(), params),

    async 'subscription.unsubscribe'(_actor, _thread_id, params) {
      const id = isObject(params) ? params['subscription_id'] : undefined;
      if (typeof id !== 'string') throw new CommandError('invalid_argument', 'subscription_id is required');
      if (subscriber?.unsubscribe(id)) return {};
      throw new CommandError('no_such_subscription', `Subscription ${id} not found.`);
    },

    /** Resubscribes under the same id, after event `since`. */
    async 'subscription.reconnect'(_actor, _thread_id, params) {
      const id = isObject(params) ? params['subscription_id'] : undefined;
      if (typeof id === 'string' && id.length > MAX_ID_LENGTH) {
        throw new CommandError(
          'invalid_argument',
          `subscription_id may have at most ${MAX_ID_LENGTH} characters`,
        );
      }
      return subscribe(typeof id === 'string' ? id : ids.uuid4(), params);
    },
  };
}

function requestOf(params: unknown) {
  const request = (isObject(params) ? params : {}) as EventStreamRequest;
  try {
    return { filter: eventFilter(request), since: wholeNumber('since', request.since) ?? 0 };
  } catch (error) {
    if (error instanceof BadRequest) throw new CommandError('invalid_argument', error.message);
    throw error;
  }
}

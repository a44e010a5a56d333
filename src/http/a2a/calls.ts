import type { FastifyReply, FastifyRequest } from 'fastify';
import { yieldTurn } from '../../core/event-loop.ts';
import { type JsonObject, toJson } from '../../core/json.ts';
import type { Logger } from '../../core/logger.ts';
import type { Frame } from '../../events/frame.ts';
import type { A2aService } from '../../services/a2a/a2a.ts';
import type { AssistantFacts } from '../../services/a2a/assistant-facts.ts';
import type { RunReplies } from '../run-replies.ts';
import { type CardParts, cardOf, extendedCardOf, HISTORY_SCOPE } from './card.ts';
import type { CardSigner } from './card-signer.ts';
import type { A2aCall } from './handler.ts';

export interface A2aParts {
  readonly a2a: A2aService;
  readonly logger: Logger;
  readonly replies: Pick<RunReplies, 'sendEvents' | 'sendLate'>;
  readonly cardParts: (request: FastifyRequest) => CardParts;
  /** Undefined: cards are not signed. */
  readonly signer: CardSigner | undefined;
}

export type A2aRequest = FastifyRequest<{
  Params: { assistant_id: string };
  Querystring: Record<string, string | undefined>;
}>;

/** What the client says it speaks; '' when it says nothing. */
export function versionAsked({ headers, query }: FastifyRequest): string {
  const asked = headers['a2a-version'] ?? (query as JsonObject)['A2A-Version'] ?? '';
  return String(asked).trim();
}

export function isVersion(asked: string): boolean {
  return asked === '' || /^(0\.3|1\.0)(\.\d+)?$/.test(asked);
}

export function callOf(
  request: FastifyRequest,
  facts: AssistantFacts,
  { cardParts, signer }: Pick<A2aParts, 'cardParts' | 'signer'>,
  { version, signal, context_id }: Pick<A2aCall, 'version' | 'signal'> & { context_id?: unknown },
): A2aCall {
  const { headers } = request;
  const parts = cardParts(request);
  const last = headers['last-event-id'];
  const extended = async () => {
    const card = extendedCardOf(facts, parts);
    return signer ? signer.signed(card, parts.base) : card;
  };
  return {
    actor: { ...request.actor, protocol: { name: 'a2a', version } },
    facts,
    version,
    signal,
    scope: headers[HISTORY_SCOPE.toLowerCase()] === 'task' ? 'task' : 'context',
    last_event_id: typeof last === 'string' && last !== '' ? last : undefined,
    context_id: typeof context_id === 'string' && context_id !== '' ? context_id : undefined,
    card: () => cardOf(facts, parts, '1.0'),
    extendedCard: parts.security.length > 0 ? extended : undefined,
    event_id: undefined,
    refusal: undefined,
  };
}

/** Carries an answer out of what was to become a stream. */
class Plain {
  readonly answer: unknown;
  constructor(answer: unknown) {
    this.answer = answer;
  }
}

/**
 * Sends the messages as server-sent events, with the ids that the call has by then. `open` may answer at once instead:
 * that answer is returned, and nothing was sent.
 */
export async function sendStream<T>(
  reply: FastifyReply,
  { replies }: Pick<A2aParts, 'replies'>,
  open: (
    signal: AbortSignal,
  ) => Promise<{ call: A2aCall; messages: AsyncGenerator<T> } | { answer: unknown }>,
): Promise<unknown> {
  try {
    await replies.sendEvents(reply, {
      headers: {},
      resumable: true,
      encode: ({ event, data }) => `${event === '' ? '' : `id: ${event}\n`}data: ${data}\n\n`,
      frames: async (signal) => {
        const opened = await open(signal);
        if ('answer' in opened) throw new Plain(opened.answer);
        const first = await opened.messages.next();
        return framesOf(opened.call, first, opened.messages);
      },
    });
    return undefined;
  } catch (error) {
    if (error instanceof Plain) return error.answer;
    throw error;
  }
}

async function* framesOf<T>(
  call: A2aCall,
  first: IteratorResult<T>,
  messages: AsyncGenerator<T>,
): AsyncGenerator<Frame> {
  for (let next = first; !next.done; next = await messages.next()) {
    await yieldTurn();
    yield { seq: 0, event: call.event_id ?? '', data: toJson(next.value) };
  }
}

import { ContentTypeNotSupportedError } from '@a2a-js/sdk/errors';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ServerError } from '../../../core/errors.ts';
import { yieldToEventLoop } from '../../../core/event-loop.ts';
import { type JsonObject, toJson } from '../../../core/json.ts';
import type { Logger } from '../../../core/logger.ts';
import type { Frame } from '../../../events/frame.ts';
import type { RunReplies } from '../../../http/run-replies.ts';
import type { CardData } from '../card-data.ts';
import type { A2aService } from '../service.ts';
import { agentCard, type CardContext, type CardSigner, extendedAgentCard, HISTORY_SCOPE } from './card.ts';
import type { A2aCall } from './methods.ts';

export interface A2aDeps {
  readonly a2a: A2aService;
  readonly logger: Logger;
  readonly replies: Pick<RunReplies, 'sendEvents' | 'sendKeepAliveJson'>;
  readonly cardParts: (request: FastifyRequest) => CardContext;
  /** Undefined if cards are unsigned. */
  readonly signer: CardSigner | undefined;
}

export type A2aRequest = FastifyRequest<{
  Params: { assistant_id: string };
  Querystring: Record<string, string | undefined>;
}>;

/** Protocol version that the client requests; '' if it sends none. */
export function requestedVersion({ headers, query }: FastifyRequest): string {
  const asked = headers['a2a-version'] ?? (query as JsonObject)['A2A-Version'] ?? '';
  return String(asked).trim();
}

export function isSupportedVersion(asked: string): boolean {
  return asked === '' || /^(0\.3|1\.0)(\.\d+)?$/.test(asked);
}

/** Throws `ContentTypeNotSupportedError` unless the body is JSON; a request may omit its type. */
export function requireJson({ headers }: FastifyRequest): void {
  const type = headers['content-type'];
  if (type === undefined || /^application\/([\w.-]+\+)?json\b/i.test(type)) return;
  throw new ContentTypeNotSupportedError(`Content-Type ${type} is not supported. Send application/json.`);
}

export function a2aCall(
  request: FastifyRequest,
  cardData: CardData,
  { cardParts, signer }: Pick<A2aDeps, 'cardParts' | 'signer'>,
  { version, signal, context_id }: Pick<A2aCall, 'version' | 'signal'> & { context_id?: unknown },
): A2aCall {
  const { headers } = request;
  const parts = cardParts(request);
  const last = headers['last-event-id'];
  const extended = async () => {
    const card = extendedAgentCard(cardData, parts);
    return signer ? signer.sign(card, parts.base) : card;
  };
  return {
    actor: { ...request.actor, protocol: { name: 'a2a', version } },
    cardData,
    version,
    signal,
    scope: headers[HISTORY_SCOPE.toLowerCase()] === 'task' ? 'task' : 'context',
    last_event_id: typeof last === 'string' && last !== '' ? last : undefined,
    context_id: typeof context_id === 'string' && context_id !== '' ? context_id : undefined,
    card: () => agentCard(cardData, parts, '1.0'),
    extendedCard: parts.security.length > 0 ? extended : undefined,
    opened: Promise.withResolvers(),
    event_id: undefined,
    refusal: undefined,
  };
}

/** Thrown to return a plain reply from a call that was opened as a stream. */
class PlainAnswer {
  readonly answer: unknown;
  constructor(answer: unknown) {
    this.answer = answer;
  }
}

/**
 * Sends the messages as server-sent events; each `id:` is the call's `event_id` at that moment. If `open`
 * resolves to `{ answer }`, returns that answer and sends nothing. `refusal`: the last message for a caller
 * that loses access while reading.
 */
export async function sendStream<T>(
  reply: FastifyReply,
  { replies }: Pick<A2aDeps, 'replies'>,
  open: (
    signal: AbortSignal,
  ) => Promise<{ call: A2aCall; messages: AsyncGenerator<T> } | { answer: unknown }>,
  refusal: (error: ServerError) => JsonObject,
): Promise<unknown> {
  try {
    await replies.sendEvents(reply, {
      headers: {},
      resumable: true,
      encode: ({ event, data }) => `${event === '' ? '' : `id: ${event}\n`}data: ${data}\n\n`,
      refusal: (error) => ({ seq: 0, event: '', data: toJson(refusal(error)) }),
      frames: async (signal) => {
        const result = await open(signal);
        if ('answer' in result) throw new PlainAnswer(result.answer);
        return framesOf(result.call, await started(result.call, result.messages));
      },
    });
    return undefined;
  } catch (error) {
    if (error instanceof PlainAnswer) return error.answer;
    throw error;
  }
}

async function* framesOf<T>(call: A2aCall, messages: AsyncGenerator<T>): AsyncGenerator<Frame> {
  for await (const message of messages) {
    await yieldToEventLoop();
    yield { seq: 0, event: call.event_id ?? '', data: toJson(message) };
  }
}

/** Resolves with the first message, or when the call is open: a failure until then has a reply of its own. */
export async function started<T>(
  { opened }: A2aCall,
  messages: AsyncGenerator<T>,
): Promise<AsyncGenerator<T>> {
  const first = messages.next();
  await Promise.race([first, opened.promise]);
  return (async function* all() {
    for (let next = await first; !next.done; next = await messages.next()) yield next.value;
  })();
}

import { RequestMalformedError, toJsonRpcError } from '@a2a-js/sdk/errors';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { NotFound, ServerError } from '../../core/errors.ts';
import { type A2aParts, type A2aRequest, isVersion, versionAsked } from './calls.ts';
import { cardOf, etagOf } from './card.ts';
import type { CardRules } from './card-routes.ts';
import { badVersion } from './rpc.ts';

/** How long a card may be kept, seconds. */
const MAX_AGE = 60;
/** Clients give up on a card after five seconds; one without schemas says that all is taken. */
const SCHEMAS_WITHIN_MS = 3_000;

export interface CardAnswers {
  /** At the root, of the assistant that a parameter names. */
  rootCard(request: FastifyRequest, reply: FastifyReply): Promise<unknown>;
  card(request: A2aRequest, reply: FastifyReply): Promise<unknown>;
  /** What signed cards are verified with. */
  keys(): unknown;
}

export function cardAnswers(parts: A2aParts & CardRules): CardAnswers {
  return {
    async rootCard(request, reply) {
      const { assistant_id } = request.query as { assistant_id?: string };
      const id = assistant_id ?? parts.default_assistant ?? (await parts.a2a.onlyAssistant(request.actor));
      return sendCard(parts, request, reply, id);
    },
    keys: () => parts.signer?.keys,

    card: (request, reply) => sendCard(parts, request, reply, request.params.assistant_id),
  };
}

async function sendCard(
  parts: A2aParts & CardRules,
  request: FastifyRequest,
  reply: FastifyReply,
  id: string | undefined,
): Promise<unknown> {
  const asked = versionAsked(request);
  const { signer } = parts;
  if (!isVersion(asked)) return refuse(reply, badVersion(asked));
  if (id === undefined)
    return refuse(
      reply,
      new RequestMalformedError('There are several assistants: name one by assistant_id.'),
    );
  try {
    const facts = await parts.a2a.factsOf(request.actor, id, SCHEMAS_WITHIN_MS);
    const form = asked === '' ? parts.card_default : asked.startsWith('1.0') ? '1.0' : '0.3';
    const cardParts = parts.cardParts(request);
    const shape = form === '0.3' && asked !== '' ? 'hybrid' : form;
    const card = cardOf(facts, cardParts, shape);
    // No two signatures of a card are alike.
    const etag = etagOf({ ...card, kid: signer?.kid });
    const is_public = cardParts.security.length === 0 || parts.card_access === 'public';
    reply.headers({
      etag,
      vary: 'A2A-Version',
      'cache-control': `${is_public ? 'public' : 'private'}, max-age=${MAX_AGE}`,
      'last-modified': new Date(facts.assistant.updated_at).toUTCString(),
    });
    if (isKnown(etag, request.headers['if-none-match'])) return reply.code(304).send();
    // Clients of 0.3 read signatures of another form of the card.
    return signer && shape !== '0.3' ? await signer.signed(card, cardParts.base) : card;
  } catch (error) {
    if (error instanceof NotFound || (error instanceof ServerError && error.status === 422)) {
      return refuse(reply, new RequestMalformedError(error.message));
    }
    throw error;
  }
}

/** Among those that the client has (RFC 9110 §13.1.2). */
function isKnown(etag: string, known = ''): boolean {
  return known.split(',').some((each) => ['*', etag].includes(each.trim().replace(/^W\//, '')));
}

function refuse(reply: FastifyReply, error: Error) {
  return reply.code(400).send({ error: toJsonRpcError(error) });
}

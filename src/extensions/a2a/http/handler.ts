import { RequestMalformedError, toJsonRpcError } from '@a2a-js/sdk/errors';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { NotFound, ServerError } from '../../../core/errors.ts';
import type { A2aSettings } from '../section.ts';
import { type A2aDeps, type A2aRequest, isSupportedVersion, requestedVersion } from './call.ts';
import { agentCard, cardEtag, cardSigner, SCHEMA_TIMEOUT_MS } from './card.ts';
import { handleRpc, unsupportedVersion } from './json-rpc.ts';
import { restHandlers } from './rest.ts';

export type A2aHandler = Awaited<ReturnType<typeof createA2aHandler>>;

interface CardDeps extends A2aDeps {
  readonly settings: A2aSettings;
}

export async function createA2aHandler(parts: Omit<A2aDeps, 'signer'>, settings: A2aSettings) {
  const { default_assistant, signing_key } = settings;
  const signer = signing_key === undefined ? undefined : await cardSigner(signing_key);
  const deps = { ...parts, signer, settings };
  return {
    ...restHandlers(deps),

    rpc: (request: A2aRequest, reply: FastifyReply) => handleRpc(deps, request, reply),

    /** Card at the root; a query parameter selects the assistant. */
    async rootCard(request: FastifyRequest, reply: FastifyReply) {
      const { assistant_id } = request.query as { assistant_id?: string };
      const id = assistant_id ?? default_assistant ?? (await parts.a2a.onlyAssistant(request.actor));
      return sendCard(deps, request, reply, id);
    },

    card: (request: A2aRequest, reply: FastifyReply) =>
      sendCard(deps, request, reply, request.params.assistant_id),

    /** JWK Set that verifies signed cards. */
    keys: () => signer?.keys,
  };
}

/** `max-age` of a card, seconds. */
const MAX_AGE_SECONDS = 60;

async function sendCard(
  parts: CardDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  id: string | undefined,
): Promise<unknown> {
  const asked = requestedVersion(request);
  const { signer } = parts;
  if (!isSupportedVersion(asked)) return sendBadRequest(reply, unsupportedVersion(asked));
  if (id === undefined)
    return sendBadRequest(
      reply,
      new RequestMalformedError(
        'The server does not have exactly one assistant: name one with the query parameter assistant_id.',
      ),
    );
  try {
    const cardData = await parts.a2a.cardDataOf(request.actor, id, SCHEMA_TIMEOUT_MS);
    const form = asked === '' ? parts.settings.card_default : asked.startsWith('1.0') ? '1.0' : '0.3';
    const cardParts = parts.cardParts(request);
    const shape = form === '0.3' && asked !== '' ? 'hybrid' : form;
    const card = agentCard(cardData, cardParts, shape);
    // Hash the unsigned card: two signatures of the same card differ.
    const etag = cardEtag({ ...card, kid: signer?.kid });
    const is_public = cardParts.security.length === 0 || parts.settings.card_access === 'public';
    reply.headers({
      etag,
      vary: 'A2A-Version',
      'cache-control': `${is_public ? 'public' : 'private'}, max-age=${MAX_AGE_SECONDS}`,
      'last-modified': new Date(cardData.assistant.updated_at).toUTCString(),
    });
    if (matchesEtag(etag, request.headers['if-none-match'])) return reply.code(304).send();
    // A pure 0.3 card stays unsigned: 0.3 clients verify signatures over another form of the card.
    return signer && shape !== '0.3' ? await signer.sign(card, cardParts.base) : card;
  } catch (error) {
    if (error instanceof NotFound || (error instanceof ServerError && error.status === 422)) {
      return sendBadRequest(reply, new RequestMalformedError(error.message));
    }
    throw error;
  }
}

/** `If-None-Match` (RFC 9110 §13.1.2). */
function matchesEtag(etag: string, known = ''): boolean {
  return known.split(',').some((each) => ['*', etag].includes(each.trim().replace(/^W\//, '')));
}

function sendBadRequest(reply: FastifyReply, error: Error) {
  return reply.code(400).send({ error: toJsonRpcError(error) });
}

import { RequestMalformedError, toJsonRpcError } from '@a2a-js/sdk/errors';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { NotFound, ServerError } from '../../core/errors.ts';
import { A2aCard, A2aCardQuery } from '../../schemas/a2a.ts';
import { TAGS } from '../openapi/tags.ts';
import { type A2aParts, isVersion, versionAsked } from './calls.ts';
import { type CardForm, cardOf, etagOf } from './card.ts';
import { badVersion } from './rpc.ts';

export interface CardRules {
  readonly default_assistant?: string | undefined;
  /** For requests that name no version. */
  readonly card_default: CardForm;
}

/** How long a card may be kept, seconds. */
const MAX_AGE = 60;
const NAMES = ['agent-card.json', 'agent.json'];

/** The cards of all assistants: at the root by a parameter, and below the address of each. */
export function cardRoutes(server: FastifyInstance, parts: A2aParts & CardRules): void {
  const config = { scope: 'read' as const };
  for (const name of NAMES) {
    const schema = name === NAMES[0] ? DOCUMENTED : {};
    server.get(`/.well-known/${name}`, { config, schema }, async (request, reply) => {
      const { assistant_id } = request.query as { assistant_id?: string };
      const id = assistant_id ?? parts.default_assistant ?? (await parts.a2a.onlyAssistant(request.actor));
      return sendCard(parts, request, reply, id);
    });
  }
  for (const path of ['', '/', ...NAMES.map((name) => `/.well-known/${name}`)]) {
    server.get(`/a2a/:assistant_id${path}`, { config, schema: {} }, (request, reply) =>
      sendCard(parts, request, reply, (request.params as { assistant_id: string }).assistant_id),
    );
  }
}

const DOCUMENTED = {
  operationId: 'get_agent_card',
  summary: 'Agent card',
  description:
    'What an assistant says about itself to A2A clients, in the form of the version in the header `A2A-Version`. The same card is at `/a2a/{assistant_id}/.well-known/agent-card.json`.',
  tags: [TAGS.a2a],
  querystring: A2aCardQuery,
  response: { 200: A2aCard },
  failures: { 400: 'Unknown assistant, or a version that is not served.' },
};

async function sendCard(
  parts: A2aParts & CardRules,
  request: FastifyRequest,
  reply: FastifyReply,
  id: string | undefined,
): Promise<unknown> {
  const asked = versionAsked(request);
  if (!isVersion(asked)) return refuse(reply, badVersion(asked));
  if (id === undefined)
    return refuse(
      reply,
      new RequestMalformedError('There are several assistants: name one by assistant_id.'),
    );
  try {
    const facts = await parts.a2a.factsOf(request.actor, id);
    const form = asked === '' ? parts.card_default : asked.startsWith('1.0') ? '1.0' : '0.3';
    const cardParts = parts.cardParts(request);
    const card = cardOf(facts, cardParts, form === '0.3' && asked !== '' ? 'hybrid' : form);
    const etag = etagOf(card);
    reply.headers({
      etag,
      vary: 'A2A-Version',
      'cache-control': `${cardParts.security.length > 0 ? 'private' : 'public'}, max-age=${MAX_AGE}`,
      'last-modified': new Date(facts.assistant.updated_at).toUTCString(),
    });
    if (request.headers['if-none-match'] === etag) return reply.code(304).send();
    return card;
  } catch (error) {
    if (error instanceof NotFound || (error instanceof ServerError && error.status === 422)) {
      return refuse(reply, new RequestMalformedError(error.message));
    }
    throw error;
  }
}

function refuse(reply: FastifyReply, error: Error) {
  return reply.code(400).send({ error: toJsonRpcError(error) });
}

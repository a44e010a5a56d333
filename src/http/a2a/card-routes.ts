import type { FastifyInstance } from 'fastify';
import { NotFound } from '../../core/errors.ts';
import type { Lazy } from '../../core/lazy.ts';
import { A2aCard, A2aCardQuery } from '../../schemas/a2a.ts';
import { TAGS } from '../openapi/tags.ts';
import type { A2aRequest } from './calls.ts';
import type { CardForm } from './card.ts';
import type { A2aDoor } from './door.ts';

export interface CardRules {
  readonly default_assistant?: string | undefined;
  /** For requests that name no version. */
  readonly card_default: CardForm;
  readonly card_access: 'protected' | 'public';
  /** Private, in PEM or as a JWK: it signs cards. */
  readonly signing_key?: string | undefined;
}

/** Where clients get what they verify cards with. */
export const KEYS_PATH = '/.well-known/jwks.json';

const NO_SLASH = 'Not Found: the address of an agent must end in "/": /a2a/{assistant_id}/';
const NAMES = ['agent-card.json', 'agent.json'];

/** The cards of all assistants: at the root by a parameter, and below the address of each. */
export function cardRoutes(
  server: FastifyInstance,
  door: Lazy<A2aDoor>,
  { card_access, signing_key }: CardRules,
): void {
  const config = { scope: 'read' as const, open: card_access === 'public' };
  for (const name of NAMES) {
    const schema = name === NAMES[0] ? DOCUMENTED : {};
    server.get(`/.well-known/${name}`, { config, schema }, async (request, reply) =>
      (await door()).rootCard(request, reply),
    );
  }
  if (signing_key !== undefined) {
    server.get(KEYS_PATH, { config: { open: true }, schema: {} }, async () => (await door()).keys());
  }
  for (const name of NAMES) {
    // Clients that resolve the path of the card against an address without a slash lose the assistant.
    server.get(`/a2a/.well-known/${name}`, { config, schema: {} }, async () => {
      throw new NotFound(NO_SLASH);
    });
  }
  for (const path of ['', '/', ...NAMES.map((name) => `/.well-known/${name}`)]) {
    const url = `/a2a/:assistant_id${path}`;
    server.get(url, { config, schema: {} }, async (request, reply) =>
      (await door()).card(request as A2aRequest, reply),
    );
  }
}

const DOCUMENTED = {
  operationId: 'get_agent_card',
  summary: 'Agent card',
  description:
    'The agent card of an assistant for A2A clients, in the version of the header `A2A-Version`. The same card is at `/a2a/{assistant_id}/.well-known/agent-card.json`.',
  tags: [TAGS.a2a],
  querystring: A2aCardQuery,
  response: { 200: A2aCard },
  failures: { 400: 'Unknown assistant, or an unsupported version.' },
};

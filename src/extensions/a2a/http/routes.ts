import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { NotFound } from '../../../core/errors.ts';
import { type Lazy, lazy } from '../../../core/lifecycle.ts';
import { trimEnd } from '../../../core/text.ts';
import { securityOf } from '../../../http/openapi/security.ts';
import { publicUrl } from '../../../http/public-url.ts';
import type { RouteDeps } from '../../../http/server-deps.ts';
import { AssistantPath } from '../../../schemas/request-params.ts';
import { A2aAnswer, A2aCard, A2aCardQuery, A2aMessage, JWKS_PATH } from '../schemas.ts';
import type { A2aSettings } from '../section.ts';
import type { A2aService } from '../service.ts';
import type { A2aRequest } from './call.ts';
import type { CardContext } from './card.ts';
import { contentTooLargeRest, contentTooLargeRpc } from './errors.ts';
import type { A2aHandler } from './handler.ts';
import type { RestRequest, restHandlers } from './rest.ts';

export interface A2aRouteDeps extends Pick<RouteDeps, 'auth' | 'logger' | 'mount_prefix' | 'replies'> {
  readonly a2a: Lazy<A2aService>;
  readonly settings: A2aSettings;
}

/** A2A routes for 1.0 and 0.3 clients. The handler and the SDK load with the first request. */
export function a2aRoutes(server: FastifyInstance, route: A2aRouteDeps): void {
  const { settings } = route;
  const handler = lazy(async () => {
    const [{ createA2aHandler }, a2a] = await Promise.all([import('./handler.ts'), route.a2a()]);
    const cardParts = (request: FastifyRequest) => cardContextOf(route, a2a, request);
    const replies = route.replies.withShortKeepAlive;
    return createA2aHandler({ logger: route.logger, replies, a2a, cardParts }, settings);
  });
  server.register((scope, _options, done) => {
    // Skip Fastify's validation: the protocol defines its own errors for invalid messages.
    scope.setValidatorCompiler(() => () => true);
    scope.removeAllContentTypeParsers();
    const limit = { bytes: settings.body_limit, setting: 'http.a2a.body_limit' };
    scope.addContentTypeParser('*', (request: FastifyRequest, payload: Readable) =>
      scope.bodies.text(request, payload, limit),
    );
    for (const url of ['/a2a/:assistant_id', '/a2a/:assistant_id/']) {
      const schema = url.endsWith('/') ? {} : RPC_SCHEMA;
      const options = { config: { scope: 'run' as const }, schema, errorHandler: contentTooLargeRpc };
      scope.post(url, options, async (request, reply) => (await handler()).rpc(request as A2aRequest, reply));
    }
    cardRoutes(scope, handler, settings);
    restRoutes(scope, handler);
    done();
  });
}

const TAG = {
  tags: ['A2A'],
  tag_description: 'Assistants as agents, over the Agent2Agent protocol.',
  tag_after: 'Store',
};

const RPC_SCHEMA = {
  operationId: 'send_agent_message',
  summary: 'A2A',
  description:
    'A JSON-RPC message of the Agent2Agent protocol, version 1.0 or 0.3, distinguished by the method name. The HTTP+JSON operations of 1.0 are under the same path.',
  ...TAG,
  params: AssistantPath,
  body: A2aMessage,
  example: { jsonrpc: '2.0', id: 1, method: 'ListTasks', params: { pageSize: 10 } },
  response: { 200: A2aAnswer, 413: A2aAnswer },
};

function cardContextOf(
  { settings, mount_prefix, auth }: A2aRouteDeps,
  { sends_push }: A2aService,
  request: FastifyRequest,
): CardContext {
  const base = settings.base_url ?? `${publicUrl(request) ?? 'http://localhost'}${mount_prefix}`;
  const schemes = auth.authenticate ? securityOf(auth) : { securitySchemes: {}, security: [] };
  return { base: trimEnd(base, '/'), sends_push, ...schemes };
}

const NO_SLASH = 'Not Found: the URL of an agent must end in "/": /a2a/{assistant_id}/';
const CARD_NAMES = ['agent-card.json', 'agent.json'];

/** Agent cards of all assistants: at the root by query parameter, and below each assistant's URL. */
function cardRoutes(
  server: FastifyInstance,
  handler: Lazy<A2aHandler>,
  { card_access, signing_key }: A2aSettings,
): void {
  const config = { scope: 'read' as const, open: card_access === 'public' };
  for (const name of CARD_NAMES) {
    const schema = name === CARD_NAMES[0] ? CARD_SCHEMA : {};
    server.get(`/.well-known/${name}`, { config, schema }, async (request, reply) =>
      (await handler()).rootCard(request, reply),
    );
  }
  if (signing_key !== undefined) {
    server.get(JWKS_PATH, { config: { open: true }, schema: {} }, async () => (await handler()).keys());
  }
  for (const name of CARD_NAMES) {
    // Resolving the card's path against a URL without a trailing slash drops the assistant.
    server.get(`/a2a/.well-known/${name}`, { config, schema: {} }, async () => {
      throw new NotFound(NO_SLASH);
    });
  }
  for (const path of ['', '/', ...CARD_NAMES.map((name) => `/.well-known/${name}`)]) {
    const url = `/a2a/:assistant_id${path}`;
    server.get(url, { config, schema: {} }, async (request, reply) =>
      (await handler()).card(request as A2aRequest, reply),
    );
  }
}

const CARD_SCHEMA = {
  operationId: 'get_agent_card',
  summary: 'Agent card',
  description:
    'The agent card of an assistant for A2A clients, in the version of the header `A2A-Version`. The same card is at `/a2a/{assistant_id}/.well-known/agent-card.json`.',
  ...TAG,
  querystring: A2aCardQuery,
  response: { 200: A2aCard },
  failures: { 400: 'Unknown assistant, or an unsupported version.' },
};

interface Typed {
  Params: RestRequest['params'];
  Querystring: RestRequest['query'];
}

/** Routes of the HTTP+JSON binding of A2A 1.0 (§11). */
function restRoutes(server: FastifyInstance, handler: Lazy<A2aHandler>): void {
  const agent = '/a2a/:assistant_id';
  // The router does not match a colon after a parameter: this also covers `/tasks/<id>:cancel`.
  const task = `${agent}/tasks/:task`;
  const subscribers = `${task}/pushNotificationConfigs`;
  const run = { config: { scope: 'run' as const }, schema: {}, errorHandler: contentTooLargeRest };
  const read = { config: { scope: 'read' as const }, schema: {} };
  const by =
    (name: keyof ReturnType<typeof restHandlers>) => async (request: RestRequest, reply: FastifyReply) =>
      (await handler())[name](request, reply);

  server.post<Typed>(`${agent}/message::send`, run, by('send'));
  server.post<Typed>(`${agent}/message::stream`, run, by('stream'));
  server.get<Typed>(`${agent}/tasks`, read, by('list'));
  server.get<Typed>(`${agent}/extendedAgentCard`, read, by('extendedCard'));
  server.get<Typed>(task, read, by('read'));
  server.post<Typed>(task, run, by('act'));
  server.post<Typed>(subscribers, run, by('createSubscriber'));
  server.get<Typed>(subscribers, read, by('listSubscribers'));
  server.get<Typed>(`${subscribers}/:config_id`, read, by('getSubscriber'));
  server.delete<Typed>(`${subscribers}/:config_id`, run, by('deleteSubscriber'));
}

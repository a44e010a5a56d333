import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Lazy } from '../../core/lazy.ts';
import type { A2aDoor } from './door.ts';
import { refuseLargeRest } from './error-details.ts';
import type { PushAnswers, RestAnswers, RestRequest } from './rest.ts';

interface Typed {
  Params: RestRequest['params'];
  Querystring: RestRequest['query'];
}

/** The addresses of HTTP+JSON of protocol 1.0 (specification §11). */
export function restRoutes(server: FastifyInstance, door: Lazy<A2aDoor>): void {
  const agent = '/a2a/:assistant_id';
  // The router does not look for a colon behind a parameter: `/tasks/<id>:cancel` is this too.
  const task = `${agent}/tasks/:task`;
  const subscribers = `${task}/pushNotificationConfigs`;
  const run = { config: { scope: 'run' as const }, schema: {}, errorHandler: refuseLargeRest };
  const read = { config: { scope: 'read' as const }, schema: {} };
  const by =
    (name: keyof RestAnswers | keyof PushAnswers) => async (request: RestRequest, reply: FastifyReply) =>
      (await door())[name](request, reply);

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

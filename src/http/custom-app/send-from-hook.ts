import type { FastifyReply } from 'fastify';

/**
 * Sends the response in a hook, which never ends: after one that returns the reply, Fastify would take a response that was
 * cut off as not sent, and let the next handler answer again.
 */
export function sendFromHook(reply: FastifyReply, payload: unknown): Promise<never> {
  reply.send(payload);
  return new Promise(() => {});
}

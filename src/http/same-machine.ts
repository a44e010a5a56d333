import type { FastifyRequest } from 'fastify';
import { isLocalName, isLoopback } from '../core/loopback.ts';

/** Headers that proxies add: a client behind one may be anywhere. */
const OF_PROXIES = [
  'forwarded',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
];

/** Whether the client is on the machine of the server: judged by its address and by the host name it uses. */
export function isOnThisMachine({ headers, raw, hostname }: FastifyRequest): boolean {
  const isPassedOn = OF_PROXIES.some((name) => headers[name] !== undefined);
  return !isPassedOn && isLocalName(hostname) && isLoopback(raw.socket.remoteAddress ?? '');
}

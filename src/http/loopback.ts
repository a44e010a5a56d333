import type { FastifyInstance } from 'fastify';
import { answerInside } from './inside.ts';

/** Where the official client looks when it is made without an address. */
const FETCH = Symbol.for('langgraph_api:fetch');
const URL_OF_SERVER = Symbol.for('langgraph_api:url');

/**
 * Makes `new Client()` of the project's code reach this server without a connection, until that is disposed. A process
 * with several servers has the newest.
 */
export function bindLoopback(server: FastifyInstance, mount_prefix = ''): Disposable {
  const found = globalThis as { [FETCH]?: typeof fetch; [URL_OF_SERVER]?: string };
  const loopback: typeof fetch = (input, init) => answerInside(server, new Request(input, init));
  found[FETCH] = loopback;
  found[URL_OF_SERVER] = `http://localhost${mount_prefix}`;
  return {
    [Symbol.dispose]() {
      if (found[FETCH] !== loopback) return;
      delete found[FETCH];
      delete found[URL_OF_SERVER];
    },
  };
}

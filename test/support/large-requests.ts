import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { openApp } from './app.ts';
import { LARGE, runOf } from './large-values.ts';

/** A server in this process, and a client that keeps nothing of its answers. */
export async function largeRequests() {
  const app = await openApp({ graphs: ['echo', 'chat'] });
  const { url } = await app.app.listen();
  const agent = new Agent({ keepAlive: true });
  return {
    /** Resolves to the status of the answer. */
    async post(path: string, body: Buffer, method = 'POST', headers: object = {}): Promise<number> {
      const all = { 'content-length': body.length, ...headers };
      const sent = request(url + path, { method, agent, headers: all });
      sent.end(body);
      const [answer] = (await once(sent, 'response')) as [IncomingMessage];
      answer.resume();
      await once(answer, 'end');
      return answer.statusCode ?? 0;
    },
    /** Starts a run with a value of this kind over a WebSocket, and waits for its end. */
    async command(kind: string): Promise<void> {
      const socket = new WebSocket(`${url.replace('http', 'ws')}/threads/${randomUUID()}/stream/events`);
      const ended = new Promise((resolve) => {
        socket.addEventListener('message', ({ data }) => {
          if (String(data).includes('"completed"')) resolve(data);
        });
      });
      await once(socket, 'open');
      socket.send('{"id":1,"method":"subscription.subscribe","params":{"channels":["lifecycle"]}}');
      socket.send(`{"id":2,"method":"run.start","params":${runOf(LARGE[kind] as string)}}`);
      await ended;
      socket.close();
    },
    async [Symbol.asyncDispose]() {
      agent.destroy();
      await app[Symbol.asyncDispose]();
    },
  };
}

import { once } from 'node:events';

const SOCKETS = 10;
const SUBSCRIPTIONS = 4;

/** As many namespaces as a connection may have, which match nothing, on several connections. Returns the bytes sent. */
export async function subscribeMuch(url: string, thread_id: string): Promise<number> {
  const namespaces = Array.from({ length: 256 }, (_, n) => [`nothing-${n}`, 'x'.repeat(900)]);
  const commands = Array.from({ length: SUBSCRIPTIONS }, (_, id) =>
    JSON.stringify({
      id,
      method: 'subscription.subscribe',
      params: { channels: ['values', 'custom'], namespaces, since: 0 },
    }),
  );
  const address = `${url.replace('http', 'ws')}/threads/${thread_id}/stream/events`;
  for (let n = 0; n < SOCKETS; n++) {
    const socket = new WebSocket(address);
    await once(socket, 'open');
    let answers = 0;
    const answered = new Promise<void>((done) => {
      socket.addEventListener('message', () => {
        answers += 1;
        if (answers >= SUBSCRIPTIONS) done();
      });
      socket.addEventListener('close', () => done());
    });
    for (const command of commands) socket.send(command);
    await answered;
    socket.close();
  }
  return commands.reduce((sum, command) => sum + command.length, 0) * SOCKETS;
}

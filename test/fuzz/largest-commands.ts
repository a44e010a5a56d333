import { once } from 'node:events';
import { z } from 'zod';
import { METHOD_PARAMS } from '../../src/schemas/event-streaming.ts';
import { type Described, largestFields } from './largest-values.ts';

const TEXT = 'word '.repeat(600_000);

export interface LargestCommand {
  readonly name: string;
  readonly field?: string;
  readonly params: Readonly<Record<string, unknown>>;
}

const NAMESPACES = Array.from({ length: 256 }, (_, n) => [`nothing-${n}`, 'x'.repeat(900)]);

/** Every command of event streaming, each with its fields as large as they may be. */
export const COMMANDS: readonly LargestCommand[] = [
  ...Object.entries(METHOD_PARAMS).flatMap(([method, schema]) => {
    const example = { assistant_id: 'echo', interrupt_id: 'none', message: { role: 'user', content: TEXT } };
    const fields = largestFields(
      z.toJSONSchema(schema, { unrepresentable: 'any', io: 'input' }) as Described,
      {},
    );
    return [
      { name: method, params: { ...example, input: { x: 1, text: TEXT } } },
      ...fields.map(([field, value]) => ({ name: method, field, params: { ...example, [field]: value } })),
    ];
  }),
  ...[1, 2, 3, 4].map(() => ({
    name: 'subscription.subscribe',
    params: { channels: ['values', 'custom'], namespaces: NAMESPACES, since: 0 },
  })),
];

/** Sends the command on a connection of its own, and waits for its answer or the end of the connection. */
export async function sendCommand(
  url: string,
  thread_id: string,
  { name, params }: LargestCommand,
): Promise<number> {
  const text = JSON.stringify({ id: 1, method: name, params });
  const socket = new WebSocket(`${url.replace('http', 'ws')}/threads/${thread_id}/stream/events`);
  await once(socket, 'open');
  const answered = new Promise<void>((done) => {
    socket.addEventListener('message', () => done());
    socket.addEventListener('close', () => done());
  });
  socket.send(text);
  await answered;
  socket.close();
  return text.length;
}

import { expect, test } from 'vitest';
import { startServer } from '../../../support/server.ts';
import { EVERY_CLIENT } from './every-client.ts';
import type { A2aClient } from './told.ts';

const GRAPHS = {
  chat: 'test/fixtures/graphs/chat.ts:graph',
  'chat-question': 'test/fixtures/graphs/chat-question.ts:graph',
  'ten-steps': 'test/fixtures/graphs/ten-steps.ts:graph',
};

test('a task continues when the server is killed before its follow-up, with every client', async () => {
  await using server = await startServer({ graphs: GRAPHS });
  const at = (graph: string): Promise<A2aClient[]> =>
    Promise.all(EVERY_CLIENT.map(([, connect]) => connect(`${server.url}/a2a/${graph}/`)));
  const [chats, asking, working] = [await at('chat'), await at('chat-question'), await at('ten-steps')];
  const ended = await Promise.all(chats.map((client) => client.send({ text: 'Hi' })));
  const asked = await Promise.all(asking.map((client) => client.send({ text: 'Hi' })));
  const slowly = { data: { n: 0 }, configurable: { step_ms: 500 }, at_once: true };
  const begun = await Promise.all(working.map((client) => client.send(slowly)));

  await server.kill('SIGKILL');
  await server.restart();

  const each = <T>(of: A2aClient[], call: (client: A2aClient, i: number) => Promise<T>) =>
    Promise.all(of.map(call));
  // First: a busy machine could finish the work before a later subscription.
  const ends = await each(working, async (client, i) => {
    const events = await Array.fromAsync(client.subscribe(begun[i]?.id ?? ''));
    return events.at(-1);
  });
  expect(ends).toEqual(begun.map(() => expect.objectContaining({ kind: 'status', state: 'completed' })));
  expect(await each(chats, (client, i) => client.get(ended[i]?.id ?? ''))).toEqual(ended);
  expect(await each(asking, (client, i) => client.get(asked[i]?.id ?? ''))).toEqual(asked);
  const answers = await each(asking, (client, i) =>
    client.send({ text: 'Ada', task_id: asked[i]?.id ?? '' }),
  );
  expect(answers).toEqual(
    asked.map(({ id, context_id }) =>
      expect.objectContaining({ id, context_id, state: 'completed', artifacts: ['Hello, Ada.'] }),
    ),
  );
});

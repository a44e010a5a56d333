import { expect, test } from 'vitest';
import { startServer } from '../../../support/server.ts';
import { EVERY_CLIENT } from './every-client.ts';
import { ask } from './story.ts';

const GRAPHS = { 'chat-question': 'test/fixtures/graphs/chat-question.ts:graph' };

test('a call continues when the server is killed between a question and its answer, with every client', async () => {
  await using server = await startServer({ graphs: GRAPHS });
  const clients = await Promise.all(EVERY_CLIENT.map(([, connect]) => connect(`${server.url}/mcp`)));
  const asked: string[] = [];
  const all = Promise.withResolvers<void>();
  const isBack = all.promise.then(async () => {
    await server.kill('SIGKILL');
    await server.restart();
  });
  const answers = clients.map((client) =>
    ask(client, async (question) => {
      if (asked.push(question) === clients.length) all.resolve();
      await isBack;
      return 'Ada';
    }),
  );
  expect(await Promise.all(answers)).toEqual(clients.map(() => 'Hello, Ada.'));
  expect(asked).toEqual(clients.map(() => 'What is your name?'));
  await Promise.all(clients.map((client) => client.close()));
});

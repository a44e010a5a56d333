import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { LangGraphAgent } from '@ag-ui/langgraph';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';

const ROOT = resolve(import.meta.dirname, '../..');

let server: Awaited<ReturnType<typeof openApp>>;
let url: string;

beforeAll(async () => {
  server = await openApp({ graphs: ['assistant'], folder: ROOT });
  ({ url } = await server.app.listen());
});

afterAll(() => server[Symbol.asyncDispose]());

type Said = Parameters<LangGraphAgent['runAgent']>[0];

/** The agent of CopilotKit and other front ends that speak AG-UI, on a thread that is not there yet. */
function agent() {
  const client = new LangGraphAgent({ graphId: 'assistant', deploymentUrl: url, threadId: randomUUID() });
  return {
    client,
    say: (content: string) => client.addMessage({ id: randomUUID(), role: 'user', content }),
    /** What a run tells: the text word by word, and names of events that a front end shows. */
    async run(said: Said = {}) {
      const pieces: string[] = [];
      const custom: { name: string; value: unknown }[] = [];
      const kinds = new Set<string>();
      const { newMessages } = await client.runAgent(said, {
        onEvent: ({ event }) => void kinds.add(event.type),
        onTextMessageContentEvent: ({ event }) => void pieces.push(event.delta),
        onCustomEvent: ({ event }) => void custom.push({ name: event.name, value: event.value }),
      });
      const answer = newMessages.filter(({ role }) => role === 'assistant').at(-1)?.content;
      return { pieces, custom, kinds: [...kinds], answer: String(answer) };
    },
  };
}

test('AG-UI streams a conversation word by word with its steps and tools, and can continue it', async () => {
  const { client, say, run } = agent();
  say('When is the shop open on Saturday?');
  const { pieces, kinds, answer } = await run();
  expect(answer).toMatch(/opening-hours\.md[\s\S]*Saturday/);
  expect(pieces.length).toBeGreaterThan(10);
  expect(pieces.join('').endsWith(answer)).toBe(true);
  expect(kinds).toEqual(
    expect.arrayContaining([
      'RUN_STARTED',
      'STEP_STARTED',
      'TOOL_CALL_START',
      'STATE_SNAPSHOT',
      'RUN_FINISHED',
    ]),
  );
  say('How many days of holiday can I carry over?');
  expect((await run()).answer).toMatch(/time-off\.md/);
  expect(client.messages.filter(({ role }) => role === 'user')).toHaveLength(2);
});

test('an AG-UI client can answer a question of the graph', async () => {
  const { client, say, run } = agent();
  say('Email ana@example.com about lunch saying See you at noon.');
  const { custom } = await run();
  expect(custom).toMatchObject([{ name: 'on_interrupt' }]);
  expect(JSON.stringify(custom)).toContain('May I call send_email');
  const { interrupts } = (await server.get(`/threads/${client.threadId}`)).body;
  const [{ id: interruptId }] = Object.values<[{ id: string }]>(interrupts)[0] ?? [{ id: '' }];
  const { answer } = await run({
    resume: [{ interruptId, status: 'resolved', payload: { decisions: [{ type: 'reject' }] } }],
  });
  expect(answer).toMatch(/was rejected/);
});

import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ToolMessage } from '@langchain/core/messages';
import { Command, MemorySaver } from '@langchain/langgraph';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { graph } from '../../examples/assistant/graph.ts';
import { naming } from '../support/naming.ts';
import { onThreads } from './on-threads.ts';

const ORDER = 'Email ana@example.com about lunch saying See you at noon.';
const config = { configurable: { thread_id: 't' } };

let assistant: typeof graph;
let outbox: string;

beforeEach(async () => {
  assistant = onThreads(graph, new MemorySaver());
  outbox = join(await mkdtemp(join(tmpdir(), 'outbox-')), 'mail');
  vi.stubEnv('OUTBOX', outbox);
  vi.stubEnv('OPENAI_API_KEY', '');
  vi.stubEnv('OPENAI_BASE_URL', '');
});

afterEach(() => vi.unstubAllEnvs());

function say(content: string) {
  return assistant.invoke({ messages: [{ role: 'user', content }] }, config);
}

function decide(resume: unknown) {
  return assistant.invoke(new Command({ resume }), config);
}

async function waitingFor() {
  const { tasks } = await assistant.getState(config);
  return tasks.flatMap(({ interrupts }) => interrupts.map(({ value }) => value));
}

async function sent(): Promise<string[]> {
  if (!existsSync(outbox)) return [];
  return Promise.all((await readdir(outbox)).map((file) => readFile(join(outbox, file), 'utf8')));
}

const approve = { decisions: [{ type: 'approve' }] };
const edit = (args: object) => ({
  decisions: [{ type: 'edit', edited_action: { name: 'send_email', args } }],
});
const LUNCH = { to: 'ana@example.com', subject: 'lunch', body: 'See you at noon.' };

test('the assistant asks before it sends e-mail, as the human-in-the-loop middleware does', async () => {
  await say(ORDER);

  expect(await waitingFor()).toEqual([
    {
      action_requests: [
        { name: 'send_email', args: LUNCH, description: expect.stringContaining('May I call send_email') },
      ],
      review_configs: [{ action_name: 'send_email', allowed_decisions: ['approve', 'edit', 'reject'] }],
    },
  ]);
  expect(await sent()).toEqual([]);
});

test('the assistant sends an approved e-mail once', async () => {
  await say(ORDER);
  const { messages } = await decide(approve);

  expect(await sent()).toEqual(['To: ana@example.com\nSubject: lunch\n\nSee you at noon.\n']);
  expect(messages.at(-1)?.text).toMatch(/^The e-mail to ana@example\.com is in the outbox/);
  expect(await waitingFor()).toEqual([]);
});

test.each([
  { decisions: [{ type: 'reject' }] },
  { decisions: [{ type: 'edit' }] },
  { decisions: [{ type: 'accept' }] },
  { decisions: [] },
  { approved: true },
  'yes',
  {},
  [],
])('the assistant sends no e-mail when the answer is %j', async (answer) => {
  await say(ORDER);
  const { messages } = await decide(answer);

  expect(await sent()).toEqual([]);
  expect(messages.at(-1)?.text).toEqual(naming('send_email', 'rejected'));
  expect((await assistant.getState(config)).next).toEqual([]);
});

test('the assistant repeats the reason of a rejection', async () => {
  await say(ORDER);
  const { messages } = await decide({ decisions: [{ type: 'reject', message: 'Lunch is off.' }] });

  expect(await sent()).toEqual([]);
  expect(messages.at(-1)?.text).toBe('Lunch is off.');
});

test.each(['edited_action', 'editedAction'])(
  'the assistant sends the e-mail with the arguments in %s',
  async (name) => {
    await say(ORDER);
    const args = { ...LUNCH, to: 'bob@example.com' };
    await decide({ decisions: [{ type: 'edit', [name]: { name: 'send_email', args } }] });

    expect(await sent()).toEqual(['To: bob@example.com\nSubject: lunch\n\nSee you at noon.\n']);
  },
);

test.each([{ to: 'nobody' }, { subject: 'one\nBcc: everybody@example.com' }])(
  'the assistant sends no e-mail with arguments that the tool does not accept: %j',
  async (changes) => {
    await say(ORDER);
    const { messages } = await decide(edit({ ...LUNCH, ...changes }));

    expect(await sent()).toEqual([]);
    expect(messages.filter((message) => ToolMessage.isInstance(message))).toMatchObject([
      { status: 'error' },
    ]);
  },
);

test('the assistant sends a passage of the notes', async () => {
  await say('Please send the opening hours of the shop to ana@example.com');

  expect(await waitingFor()).toMatchObject([
    {
      action_requests: [
        {
          args: {
            subject: 'Opening hours: Shop',
            body: expect.stringMatching(/^The shop is open from Tuesday/),
          },
        },
      ],
    },
  ]);
});

test('the assistant asks for an address and takes it from the next message', async () => {
  const { messages } = await say('Send an e-mail about lunch saying See you at noon.');
  expect(messages.at(-1)?.text).toBe('To which address shall I send it?');

  await say('to ana@example.com');
  expect(await waitingFor()).toMatchObject([
    { action_requests: [{ args: { to: 'ana@example.com', subject: 'lunch' } }] },
  ]);
});

test('a thread of the assistant continues after a decision', async () => {
  await say(ORDER);
  await decide({ decisions: [{ type: 'reject' }] });
  const { messages } = await say('When is the shop open on Saturday?');

  expect(messages.at(-1)?.text).toMatch(/opening-hours\.md/);
});

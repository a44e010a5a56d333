import { afterAll, beforeAll, expect, test } from 'vitest';
import { blocksOf, callsOf, inProgram, inShell, NODE } from '../../examples/blocks.ts';
import { type Started, started } from '../../examples/started.ts';
import { pythonWith } from '../../support/python.ts';

const PYTHON = pythonWith('a2a.client');
const BLOCKS = blocksOf('docs/a2a.md');
const [CARD = '', TASK = '', GUEST = ''] = callsOf('docs/a2a.md');
let server: Started;

beforeAll(async () => {
  server = await started('npm start');
});

afterAll(() => server[Symbol.asyncDispose]());

test('docs/a2a.md, curl', async () => {
  const [card, task] = await inShell([CARD, TASK], server.url);

  expect(card).toMatchObject({ statuses: [200, 200], complaints: '' });
  expect(card?.output).toMatch(/"supportedInterfaces":[\s\S]*"state":"TASK_STATE_COMPLETED"[\s\S]*Sunday/);
  expect(task).toMatchObject({ statuses: [200, 200, 200, 200], complaints: '' });
  expect(task?.output).toMatch(/TASK_STATE_COMPLETED[\s\S]*in the outbox[\s\S]*"totalSize":2/);
});

test('docs/a2a.md, JavaScript', async () => {
  const programs = BLOCKS.filter(({ language }) => language === 'js').map(({ text }) => text);
  const [task, streamed] = await Promise.all(
    programs.map((program) => inProgram(NODE, ['--input-type=module'], program, server.url)),
  );
  expect(task).toMatch(/Sunday/);
  expect(streamed).toMatch(/the notes\.opening-hours\.md[\s\S]*Saturday/);
});

test('docs/a2a.md: an agent URL without a trailing slash has no card next to it', async () => {
  const card = (address: string) => fetch(new URL('.well-known/agent-card.json', `${server.url}${address}`));
  expect((await card('/a2a/assistant/')).status).toBe(200);
  expect((await card('/a2a/assistant')).status).toBe(404);
});

test.runIf(PYTHON)('docs/a2a.md, Python', async () => {
  const [program] = BLOCKS.filter(({ language }) => language === 'python');
  const said = await inProgram(PYTHON ?? '', ['-'], program?.text ?? '', server.url);
  expect(said).toMatch(/the notes\.opening-hours\.md[\s\S]*Saturday/);
});

test('docs/a2a.md: an agent calls another one, forwards its question, and passes the answer on', async () => {
  const [start] = BLOCKS.filter(({ text }) => text.startsWith('npm start'));
  await using agents = await started(start?.text ?? '');
  const [told] = await inShell([GUEST], agents.url);

  expect(told).toMatchObject({ statuses: [200, 200], complaints: '' });
  expect(told?.output).toMatch(/TASK_STATE_WORKING.*"Looking for a free table"/);
  expect(told?.output).toMatch(/"text":"A table for 4 is reserved\."/);
  const list = async (agent: string) =>
    (await fetch(`${agents.url}/a2a/${agent}/tasks`)).json() as Promise<{ tasks: { status: object }[] }>;
  for (const agent of ['concierge', 'tables']) {
    expect((await list(agent)).tasks).toMatchObject([{ status: { state: 'TASK_STATE_COMPLETED' } }]);
  }
});

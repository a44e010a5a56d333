import { afterAll, beforeAll, expect, test } from 'vitest';
import { python } from '../support/python.ts';
import { blocksOf, callsOf, inProgram, inShell, NODE } from './blocks.ts';
import { folderWith } from './inside-repository.ts';
import { type Started, started } from './started.ts';

let server: Started;

beforeAll(async () => {
  server = await started('npm start');
});

afterAll(() => server[Symbol.asyncDispose]());

test('docs/streaming.md', async () => {
  const [progress, resumed, rest, told] = await inShell(callsOf('docs/streaming.md'), server.url);

  expect(progress).toMatchObject({ statuses: [200], complaints: '' });
  expect(progress?.output).toMatch(/^event: custom\|investigate:[\w-]+\r$/m);
  expect(resumed?.statuses).toEqual([200, 200, 200, 200]);
  expect(resumed?.output).toMatch(/^id: 6\r$/m);
  expect(resumed?.output).toMatch(/sand box/);
  expect(rest).toMatchObject({ statuses: [200, 200], complaints: '' });
  expect(told?.statuses).toEqual([200, 200, 200]);
  expect(told?.output).toMatch(/"event":"completed"/);
});

test('docs/crons.md', async () => {
  const [, stateless, onThread, changes] = await inShell(callsOf('docs/crons.md'), server.url);

  expect(stateless).toMatchObject({ statuses: [200, 200], complaints: '' });
  expect(stateless?.output).toMatch(/"next_run_date":"\d{4}-\d\d-\d\dT0[67]:00:00\.000Z"/);
  expect(onThread).toMatchObject({ statuses: [200, 200], complaints: '' });
  expect(changes).toMatchObject({ statuses: [200, 200, 200, 200, 200, 204], complaints: '' });
  expect(changes?.output).toMatch(/"summary":"Paused: /);
  expect(changes?.output).toMatch(/"next_run_date":null[\s\S]*"tick":null[\s\S]*"outcome":"started"/);
});

test('docs/crons.md, JavaScript', async () => {
  const [program] = blocksOf('docs/crons.md').filter(({ language }) => language === 'js');
  const output = await inProgram(NODE, ['--input-type=module'], program?.text ?? '', server.url);
  expect(output).toMatch(/T2[23]:00:00\.000Z/);
});

test.runIf(python)('docs/crons.md, Python', async () => {
  const [program] = blocksOf('docs/crons.md').filter(({ language }) => language === 'python');
  expect(await inProgram(python ?? '', ['-'], program?.text ?? '', server.url)).toMatch(/T2[23]:00:00/);
});

test('docs/overview.md', async () => {
  const [, overview, history, leases, changes] = await inShell(callsOf('docs/overview.md'), server.url);
  expect(overview).toMatchObject({ statuses: [200], complaints: '' });
  expect(overview?.output).toMatch(/^{"runs":{"pending":\d+,.*"engine":"sqlite"/);
  expect(history?.output).toMatch(/^{"process":{"worker_id":/);
  expect(leases).toMatchObject({ statuses: [200], complaints: '', output: expect.stringMatching(/^\[/) });
  expect(changes?.output).toMatch(/^event: ready\r$/m);
});

test.each([
  ['JavaScript', 'js', NODE, ['--input-type=module']],
  ['Python', 'python', python, ['-']],
])('docs/overview.md, %s', async (_name, language, command, args) => {
  if (command === undefined) return;
  const [program] = blocksOf('docs/overview.md').filter((block) => block.language === language);
  expect(await inProgram(command, args, program?.text ?? '', server.url)).toMatch(/^\d+ wait, 1 process\n$/);
});

test('docs/generative-ui.md', async () => {
  const [wire] = await inShell(callsOf('docs/generative-ui.md'), server.url);

  expect(wire).toMatchObject({ statuses: [200, 200], complaints: '' });
  expect(wire?.output).toMatch(
    /^<script src=".+\/ui\/research\/entrypoint\.js" onload='.+"finding".+'><\/script>/,
  );
  expect(wire?.output).toContain('says nothing');
});

test('docs/store.md', async () => {
  const [, items, searches] = await inShell(callsOf('docs/store.md'), server.url);

  expect(items).toMatchObject({ statuses: [204, 204, 200], complaints: '' });
  expect(items?.output).toMatch(/"key":"tea","value":{"cups":3,"text":"likes green tea"}/);
  expect(searches).toMatchObject({ statuses: [200, 200, 200], complaints: '' });
  expect(searches?.output).toMatch(/likes green tea[\s\S]*Byron.*"score":0\.[\s\S]*\["memories","ada"\]/);
});

test('docs/store.md, JavaScript', async () => {
  const [program] = blocksOf('docs/store.md').filter(({ language }) => language === 'js');
  const output = await inProgram(NODE, ['--input-type=module'], program?.text ?? '', server.url);
  expect(output).toMatch(/^keeps a model ship 0\.\d+$/m);
});

test.runIf(python)('docs/store.md, Python', async () => {
  const [program] = blocksOf('docs/store.md').filter(({ language }) => language === 'python');
  expect(await inProgram(python ?? '', ['-'], program?.text ?? '', server.url)).toMatch(/^writes a book$/m);
});

test.each([/^npm start -- --config/, /^npm run dev/])(
  'docs/graphs.md: a first graph, served by %s',
  async (command) => {
    const only = (language: string, pattern: RegExp) => {
      const found = blocksOf('docs/graphs.md').filter(
        (block) => block.language === language && pattern.test(block.text),
      );
      expect(found).toHaveLength(1);
      return found[0]!.text;
    };
    await using own = await folderWith({
      'agent.config.yaml': only('yaml', /greeter/),
      'greeter.ts': only('ts', /greeter/),
    });
    const lines = only('sh', /my-project\/agent/).split('\n');
    const line = lines.find((each) => command.test(each)) ?? '';
    await using server = await started(line.replace('../my-project', own.root));

    expect(await greet(server.url)).toMatchObject({ greeting: 'Hello Ana!' });
  },
);

test('docs/deployment.md: a server with keys rejects requests without one', async () => {
  const commands = blocksOf('docs/deployment.md').filter(({ text }) => text.includes('agent-server.mjs'));
  const [command] = commands.map(({ text }) => text.replace('node node_modules/agent-server', `${NODE} .`));
  await using guarded = await started(command ?? '');
  const info = (headers: Record<string, string>) => fetch(`${guarded.url}/info`, { headers });

  expect((await info({})).status).toBe(401);
  expect((await info({ 'x-api-key': 'third-key' })).status).toBe(401);
  expect((await info({ 'x-api-key': 'second-key' })).status).toBe(200);
});

async function greet(url: string): Promise<unknown> {
  const response = await fetch(`${url}/runs/wait`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ assistant_id: 'greeter', input: { name: 'Ana' } }),
  });
  return response.json();
}

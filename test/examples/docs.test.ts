import { afterAll, beforeAll, expect, test } from 'vitest';
import { python } from '../support/python.ts';
import { blocksOf, callsOf, inProgram, inShell, NODE } from './blocks.ts';
import { type Started, started } from './started.ts';

let server: Started;

beforeAll(async () => {
  server = await started('npm start');
});

afterAll(() => server[Symbol.asyncDispose]());

test('docs/runs.md', async () => {
  const [, busy, interrupts, fork] = await inShell(callsOf('docs/runs.md'), server.url);

  expect(busy).toMatchObject({ statuses: [200, 200, 409, 200], complaints: '' });
  expect(busy?.output).toMatch(/already running[\s\S]*instead of the first/);
  expect(interrupts).toMatchObject({ statuses: [200, 200, 200, 200], complaints: '' });
  expect(interrupts?.output).toMatch(/"status":"interrupted"[\s\S]*was not approved/);
  expect(fork).toMatchObject({ statuses: [200, 200, 200], complaints: '' });
  expect(fork?.output).toMatch(/was not approved/);
});

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
  expect(changes).toMatchObject({ statuses: [200, 200, 200, 200, 204], complaints: '' });
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

test('docs/generative-ui.md', async () => {
  const [wire] = await inShell(callsOf('docs/generative-ui.md'), server.url);

  expect(wire).toMatchObject({ statuses: [200, 200], complaints: '' });
  expect(wire?.output).toMatch(
    /^<script src=".+\/ui\/research\/entrypoint\.js" onload='.+"finding".+'><\/script>/,
  );
  expect(wire?.output).toContain('The library says nothing about it.');
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

test.each(blocksOf('docs/clients.md').filter(({ language }) => language === 'js'))(
  'docs/clients.md, JavaScript %#',
  async ({ text }) => {
    expect(await inProgram(NODE, ['--input-type=module'], text, server.url)).not.toBe('');
  },
);

test.runIf(python).each(blocksOf('docs/clients.md').filter(({ language }) => language === 'python'))(
  'docs/clients.md, Python %#',
  async ({ text }) => {
    expect(await inProgram(python ?? '', ['-'], text, server.url)).toMatch(
      /# Compare insulation and heat pumps\./,
    );
  },
);

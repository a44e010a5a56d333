import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startServer, type TestServer } from '../support/server.ts';
import { ROOT } from './blocks.ts';

let server: TestServer;
let outbox: string;

beforeAll(async () => {
  outbox = await mkdtemp(join(tmpdir(), 'outbox-'));
  server = await startServer({ config: join(ROOT, 'agent.config.yaml'), env: { OUTBOX: outbox } });
});

afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  await rm(outbox, { recursive: true, force: true });
});

const ORDER = { messages: [{ role: 'user', content: 'Email ana@example.com about lunch saying See you.' }] };

interface Research {
  remembered: string[];
  report: string;
}

function research(question: string, user: string) {
  const run = server.client.runs.wait(null, 'research', { input: { question }, context: { user } });
  return run as unknown as Promise<Research>;
}

test('each example has an assistant with the description of the configuration', async () => {
  const assistants = await server.client.assistants.search();

  expect(assistants.map(({ name }) => name).sort()).toEqual(['assistant', 'echo', 'research']);
  expect(assistants.every(({ description }) => description !== null)).toBe(true);
});

test('an interrupt of the assistant survives a crash, and its answer sends one e-mail', async () => {
  const { thread_id } = await server.client.threads.create();
  await server.client.runs.wait(thread_id, 'assistant', { input: ORDER });
  await server.kill('SIGKILL');
  await server.restart();

  expect(await server.client.threads.get(thread_id)).toMatchObject({ status: 'interrupted' });
  expect(await readdir(outbox)).toEqual([]);
  await server.client.runs.wait(thread_id, 'assistant', {
    command: { resume: { decisions: [{ type: 'approve' }] } },
  });
  expect(await readdir(outbox)).toHaveLength(1);
});

test('the research example keeps the memories of each user across a crash', async () => {
  await research('heat pumps and insulation', 'ana@example.com');
  await server.kill('SIGKILL');
  await server.restart();

  expect(await research('insulation', 'ana@example.com')).toMatchObject({
    remembered: ['insulation'],
    report: expect.stringContaining('insulation.md'),
  });
  expect(await research('insulation', 'bob@example.com')).toMatchObject({ remembered: [] });
});

test('the research example streams the progress of its subgraphs', async () => {
  const topics: string[] = [];
  for await (const { event, data } of server.client.runs.stream(null, 'research', {
    input: { question: 'Compare batteries, solar panels and ventilation.' },
    streamMode: 'custom',
    streamSubgraphs: true,
  })) {
    if (event.startsWith('custom|investigate:')) topics.push((data as { topic: string }).topic);
  }

  expect(topics.sort()).toEqual(['batteries', 'solar panels', 'ventilation']);
});

test('the schemas of the research example name its question and its context', async () => {
  const schemas = await server.client.assistants.getSchemas('research');

  expect(Object.keys(schemas.input_schema?.properties ?? {})).toEqual(['question']);
  expect(Object.keys(schemas.context_schema?.properties ?? {})).toEqual(['user']);
});

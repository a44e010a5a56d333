import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { LogLine } from '../../src/core/logger.ts';
import { loadGraphs } from '../../src/graphs/runtime/load-graphs.ts';
import { naming } from '../support/naming.ts';
import { type Project, project } from '../support/project.ts';
import { recordingLogger } from '../support/recording-logger.ts';

const GRAPH = `
import { Annotation, START, StateGraph } from '@langchain/langgraph';
import type { Topic } from './topic.ts';
export const graph = new StateGraph(Annotation.Root({ topic: Annotation<Topic>() }))
  .addNode('write', () => ({}))
  .addEdge(START, 'write')
  .compile();`;
const FILES = { 'graph.ts': GRAPH, 'topic.ts': `export type Topic = 'sun' | 'rain';` };

/** A start of the server with the project as it is now. A process that reads types gets `limit_ms`. */
async function started(at: Project, { limit_ms = 60_000, signal = new AbortController().signal } = {}) {
  const log: LogLine[] = [];
  const graphs = await loadGraphs([{ graph_id: 'it', path: './graph.ts', export: 'graph' }], {
    root: at.root,
    logger: recordingLogger('info', (line) => log.push(line)),
    types: { cache: at.path('cache'), signal, limit_ms },
  });
  const graph = await graphs.get('it', { configurable: {} }, 'assistants.read');
  const topic = async () => {
    const { state_schema } = await graph.schemas();
    return (state_schema as { properties: { topic: unknown } }).properties.topic;
  };
  return { topic, warnings: () => log.filter(({ level }) => level === 'warn') };
}

/** Too little for any process: whoever still answers did not need one. */
const NO_TIME = { limit_ms: 1 };

test('schemas from types are read from the cache at the next start, until a source file changes', async () => {
  await using at = await project(FILES);
  const first = await started(at);
  const answers = await Promise.all([first.topic(), first.topic(), first.topic()]);
  expect(answers).toEqual(Array(3).fill({ type: 'string', enum: ['rain', 'sun'] }));

  const second = await started(at, NO_TIME);
  expect(await second.topic()).toEqual({ type: 'string', enum: ['rain', 'sun'] });
  expect(second.warnings()).toEqual([]);

  await at.write({ 'topic.ts': 'export type Topic = number;' });
  const third = await started(at);
  expect(await third.topic()).toEqual({ type: 'number' });
});

test('schemas of types that cannot be read in time accept any value, with one warning', async () => {
  await using at = await project(FILES);
  const server = await started(at, NO_TIME);
  expect(await server.topic()).toEqual({});
  expect(await server.topic()).toEqual({});
  expect(server.warnings()).toMatchObject([{ message: naming('zod') }]);
  expect(await readdir(at.path('.'))).not.toContain('cache');
});

test('stopping the server stops the extraction of schemas from types', async () => {
  await using at = await project(FILES);
  const end = new AbortController();
  const server = await started(at, { signal: end.signal });
  const topic = server.topic();
  end.abort();
  expect(await topic).toEqual({});
  expect(server.warnings()).toEqual([]);
});

test('schemas from types are extracted again if their cache is damaged or cannot be written', async () => {
  await using at = await project({ ...FILES, cache: 'a file where the folder would be' });
  expect(await (await started(at)).topic()).toEqual({ type: 'string', enum: ['rain', 'sun'] });

  await using damaged = await project(FILES);
  await (await started(damaged)).topic();
  await mkdir(damaged.path('cache'), { recursive: true });
  for (const name of await readdir(damaged.path('cache')))
    await writeFile(join(damaged.path('cache'), name), '{');
  expect(await (await started(damaged)).topic()).toEqual({ type: 'string', enum: ['rain', 'sun'] });
});

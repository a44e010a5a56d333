import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { developing } from '../support/developing.ts';
import { project } from '../support/project.ts';
import { until } from '../support/until.ts';

/** Says the word of another file; waits first if it is told to. */
const GRAPH = `
import { existsSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { word } from './word.js';
const State = Annotation.Root({ gate: Annotation(), said: Annotation() });
export const graph = new StateGraph(State)
  .addNode('say', async ({ gate }, { writer }) => {
    if (gate) {
      writeFileSync(gate + '.waits', '');
      writer('waits');
      while (!existsSync(gate)) await sleep(20);
    }
    return { said: word };
  })
  .addEdge(START, 'say').addEdge('say', END).compile();
`;
const FILES = {
  'agent.config.yaml':
    'graphs: { talker: "./src/talker.ts:graph" }\nserver: { port: 0 }\nhosts: { count: 2 }\n',
  'src/talker.ts': GRAPH,
  'src/word.ts': "export const word = 'old';",
};

test('in dev, changed code is served without a restart of the server: streams continue, and their runs end', async () => {
  await using folder = await project(FILES);
  await using server = await developing(folder);
  const gate = join(folder.root, 'gate');
  const events: string[] = [];
  const stream = (async () => {
    const input = { gate };
    for await (const { event, data } of server.client.runs.stream(null, 'talker', {
      input,
      streamMode: ['custom', 'updates'],
    }))
      if (event !== 'metadata') events.push(JSON.stringify(data));
  })();
  await until('the run waits', () => existsSync(`${gate}.waits`));

  await folder.write({ 'src/word.ts': "export const word = 'new';" });
  await until('change loaded', () => server.lines.some((line) => line.includes('change loaded')));
  expect(await server.client.runs.wait(null, 'talker', { input: {} })).toMatchObject({ said: 'new' });

  await folder.write({ gate: '' });
  await stream;
  expect(events).toEqual(['"waits"', '{"say":{"said":"old"}}']);
  expect(server.restarts()).toBe(0);
});

test('in dev, code that crashes its process leaves the previous code in place until it is fixed', async () => {
  await using folder = await project(FILES);
  await using server = await developing(folder);
  const said = async () => (await server.client.runs.wait(null, 'talker', { input: {} })) as { said: string };

  await folder.write({ 'src/word.ts': "export const word = 'broken'; process.exit(3);" });
  await until('the failure is logged', () =>
    server.lines.some((line) => line.includes('cannot load the change')),
  );
  expect(await said()).toMatchObject({ said: 'old' });
  await folder.write({ 'src/word.ts': 'export const word = (;' });
  await until('change loaded', () => server.lines.some((line) => line.includes('failed to load')));
  await expect(said()).rejects.toThrow(/Graph 'talker' failed to load/);
  await folder.write({ 'src/word.ts': "export const word = 'mended';" });
  await expect.poll(() => said().catch(() => undefined), { interval: 200 }).toMatchObject({ said: 'mended' });
  expect(server.restarts()).toBe(0);
});

test('in dev, a change of the configuration restarts the server', async () => {
  await using folder = await project(FILES);
  await using server = await developing(folder);
  const config = FILES['agent.config.yaml'].replace('{ talker', '{ other: "./src/talker.ts:graph", talker');
  await folder.write({ 'agent.config.yaml': config });
  await until('the server has restarted', () => server.restarts() === 1);
  expect(await server.client.runs.wait(null, 'other', { input: {} })).toMatchObject({ said: 'old' });
});

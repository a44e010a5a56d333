import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { openApp } from '../support/app.ts';
import { project } from '../support/project.ts';
import { until } from '../support/until.ts';

const FILES = {
  'agent.config.yaml': 'graphs: { blocks: ./blocks.mjs:graph }\nhosts: { count: auto }\n',
  /** Computes until its gate exists; without one it ends at once, with its process. */
  'blocks.mjs': `import { existsSync, writeFileSync } from 'node:fs';
    import { Annotation, StateGraph } from '@langchain/langgraph';
    const State = Annotation.Root({ gate: Annotation(), pid: Annotation() });
    export const graph = new StateGraph(State)
      .addNode('block', ({ gate }) => {
        if (gate) writeFileSync(gate + '.begun', '');
        while (gate && !existsSync(gate));
        return { pid: process.pid };
      })
      .addEdge('__start__', 'block').compile();`,
};

test('with auto there is one host, a second while the first computes, and one again after a minute without work', async () => {
  await using code = await project(FILES);
  let skipped_ms = 0;
  const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + skipped_ms };
  await using server = await openApp({ graphs: ['blocks'], folder: code.root, clock });
  const hosts = async () => (await server.get('/info')).body.server.hosts;
  const run = async (input: object) =>
    (await server.post('/runs/wait', { assistant_id: 'blocks', input })).body.pid;
  await until('a host is ready', async () => (await hosts()).ready === 1);
  expect(await hosts()).toEqual({ count: 1, ready: 1 });

  const gate = code.path('gate');
  const blocking = run({ gate });
  await until('it computes', () => existsSync(`${gate}.begun`));
  await until('there is another host', async () => (await hosts()).ready === 2);
  const other = await run({});
  await writeFile(gate, '');
  expect(await blocking).not.toBe(other);

  await until('there is one host again', async () => {
    skipped_ms += 60_000;
    return (await hosts()).count === 1;
  });
  expect(await run({})).not.toBe(other);
});

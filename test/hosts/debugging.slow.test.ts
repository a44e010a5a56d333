import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { project } from '../support/project.ts';
import { until } from '../support/until.ts';

const PROGRAM = join(resolve(import.meta.dirname, '../..'), 'bin/agent-server.mjs');
const GRAPH = `import { Annotation, StateGraph } from '@langchain/langgraph';
  export const graph = new StateGraph(Annotation.Root({ n: Annotation() }))
    .addNode('a', () => ({ n: 1 })).addEdge('__start__', 'a').compile();`;

interface Target {
  readonly title: string;
}

test('--inspect attaches to the graph host, where the graphs execute', async () => {
  await using code = await project({
    'agent.config.yaml': 'graphs: { a: ./a.mjs:graph }\nhosts: { count: auto }\n',
    'a.mjs': GRAPH,
  });
  const port = await freePort();
  const args = [`--inspect=127.0.0.1:${port}`, PROGRAM, 'start', '--port', '0'];
  const child = spawn(process.execPath, args, {
    cwd: code.root,
    stdio: 'ignore',
    env: { PATH: process.env['PATH'] },
  });
  try {
    const targets = async () => {
      const response = await fetch(`http://127.0.0.1:${port}/json/list`).catch(() => undefined);
      return ((await response?.json()) ?? []) as Target[];
    };
    const ofHost = ({ title }: Target) => title.includes('hosts/host/main');
    await until('the debugger reaches the host', async () => (await targets()).some(ofHost));
    expect(await targets()).toHaveLength(1);
  } finally {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
});

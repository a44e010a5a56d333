import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { LogLine } from '../../src/core/logger.ts';
import { type Files, graphThat, KEY } from './deployments.ts';
import { PACKAGES } from './project.ts';
import { startServer } from './server.ts';
import { until } from './until.ts';

/** Makes the folder one of a server with deployments. */
export async function writeDeploymentServer(folder: string): Promise<void> {
  const config = {
    graphs: { main: './main.ts:graph' },
    deployments: { enabled: true, allow_local_sources: true },
  };
  await writeFile(join(folder, 'agent.config.yaml'), JSON.stringify(config));
  await writeFile(join(folder, 'main.ts'), graphThat('main'));
  await symlink(PACKAGES, join(folder, 'node_modules'));
}

/** Starts the server of such a folder in a process of its own, which may be killed. */
export async function startDeploymentProcess(folder: string, env: Record<string, string> = {}) {
  const server = await startServer({
    config: join(folder, 'agent.config.yaml'),
    storage: 'sqlite',
    one_process: 'one process has the deployments',
    api_keys: [KEY],
    env,
  });
  const send = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(server.url + path, {
      method,
      headers: { 'x-api-key': KEY, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: JSON.parse((await response.text()) || 'null') };
  };
  return { server, send, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

/** Three steps. With a gate, the second and the third end when the files `<gate>-1` and `<gate>-2` exist. */
export const threeSteps = (version: string): Files => ({
  'langgraph.json': JSON.stringify({ graphs: { agent: './agent.ts:graph' } }),
  'agent.ts': `import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { END, START, StateGraph } from '@langchain/langgraph';
import { z } from 'zod';
const State = z.object({ gate: z.any(), done: z.array(z.string()).default(() => []) });
async function step({ gate, done }) {
  let isOpen = !gate || done.length === 0;
  while (!isOpen) {
    isOpen = existsSync(gate + '-' + done.length);
    // Once more than needed: what the server said before the gate opened has been read then.
    await sleep(5);
  }
  return { done: [...done, ${JSON.stringify(version)}] };
}
export const graph = new StateGraph(State)
  .addNode('step', step)
  .addEdge(START, 'step')
  .addConditionalEdges('step', ({ done }) => (done.length === 3 ? END : 'step'))
  .compile();
`,
});

/** Lets the runs of `threeSteps` at this gate go on: the second step once they are handed over, the third after that. */
export async function passHandOver(
  { log }: { readonly log: readonly LogLine[] },
  gate: string,
): Promise<void> {
  const logged = (text: string) => until(text, () => log.some(({ message }) => message === text));
  await logged('handing runs over at their next checkpoint');
  await writeFile(`${gate}-1`, '');
  await logged('old revision stopped executing runs');
  await writeFile(`${gate}-2`, '');
}

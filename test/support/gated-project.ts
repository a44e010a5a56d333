import type { Files } from './deployments.ts';

/** A project whose runs end when the file of their input `gate` exists. It loads once `loads_after` does. */
export function gatedProject(says: string, loads_after?: string): Files {
  return {
    'langgraph.json': JSON.stringify({ graphs: { agent: './agent.ts:graph' } }),
    'agent.ts': `import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { END, START, StateGraph } from '@langchain/langgraph';
import { z } from 'zod';
const appears = async (file) => {
  while (file && !existsSync(file)) await sleep(5);
};
await appears(${JSON.stringify(loads_after ?? '')});
const State = z.object({ gate: z.any(), said: z.any() });
export const graph = new StateGraph(State)
  .addNode('say', async ({ gate }) => {
    await appears(gate);
    return { said: ${JSON.stringify(says)} };
  })
  .addEdge(START, 'say')
  .addEdge('say', END)
  .compile();
`,
  };
}

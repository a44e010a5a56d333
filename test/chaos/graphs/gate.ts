import { appendFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Annotation, END, type LangGraphRunnableConfig, START, StateGraph } from '@langchain/langgraph';

/** Waits until the folder of the test has a file `open`; `entered` there has who waits, `left` who came through. */
const State = Annotation.Root({
  folder: Annotation<string>(),
  label: Annotation<string>(),
  left: Annotation<string[]>({ reducer: (left, more) => [...left, ...more], default: () => [] }),
});

/** One for all runs of a process, so that hundreds that wait cost nothing. */
const gates = new Map<string, Promise<void>>();

async function untilOpen(folder: string): Promise<void> {
  while (!existsSync(join(folder, 'open'))) await sleep(200);
}

async function pass({ folder, label }: typeof State.State, { signal }: LangGraphRunnableConfig) {
  appendFileSync(join(folder, 'entered'), `${process.pid} ${label}\n`);
  const gate = gates.get(folder) ?? untilOpen(folder);
  gates.set(folder, gate);
  const stopped = new Promise<never>((_resolve, reject) =>
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true }),
  );
  await Promise.race([gate, stopped]);
  return { left: [label] };
}

export const graph = new StateGraph(State)
  .addNode('pass', pass)
  .addEdge(START, 'pass')
  .addEdge('pass', END)
  .compile();

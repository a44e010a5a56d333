import { randomUUID } from 'node:crypto';
import { Annotation, interrupt, START, StateGraph } from '@langchain/langgraph';
import { expect, test } from 'vitest';
import type { RunKwargs } from '../../src/schemas/runs.ts';
import { describeEachDatabase } from '../support/databases.ts';
import { graphWorker } from '../support/graph-worker.ts';

const State = Annotation.Root({
  log: Annotation<string[]>({ reducer: (a, b) => a.concat(b), default: () => [] }),
});

const UPDATES: Partial<RunKwargs> = { stream_mode: ['updates'] };

/** `deploy` asks, works until `go`, and asks again; `notify` asks at the same time. */
function askingTwice() {
  const working = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  const graph = new StateGraph(State)
    .addNode('deploy', async () => {
      const where = interrupt('where?');
      working.resolve();
      await go.promise;
      return { log: [`deploy: ${where}, ${interrupt('really?')}`] };
    })
    .addNode('notify', () => ({ log: [`notify: ${interrupt('whom?')}`] }))
    .addEdge(START, 'deploy')
    .addEdge(START, 'notify')
    .compile();
  return { graph, working: working.promise, go: go.resolve };
}

type Worker = ReturnType<typeof graphWorker>;

async function questions(worker: Worker, run: Parameters<Worker['events']>[0]) {
  const updates = (await worker.events(run)).filter(([event]) => event === 'updates');
  return updates.flatMap(([, data]) => (data.__interrupt__ ?? []) as { id: string; value: string }[]);
}

describeEachDatabase('a run that is repeated after it has taken an answer', (open) => {
  test.each([{ strict_resume: false }, { strict_resume: true }])(
    'asks its next question, and gives the other answers: %o',
    async (strict) => {
      await using db = await open();
      const thread_id = randomUUID();
      const asking = askingTwice();
      const one = graphWorker(db, asking.graph);
      one.worker.start();
      const first = await one.submit(thread_id, { ...UPDATES, input: { log: [] } });
      expect(await one.ended(first)).toBe('success');
      const ids = Object.fromEntries((await questions(one, first)).map(({ id, value }) => [value, id]));
      const resume = { [ids['where?'] as string]: 'there', [ids['whom?'] as string]: 'Ann' };
      const run = await one.submit(thread_id, { ...UPDATES, input: null, command: { resume }, ...strict });
      await Promise.race([asking.working, one.ended(run)]);
      await one.worker.stop(0);
      asking.go();

      const other = graphWorker(db, asking.graph);
      other.worker.start();
      expect(await other.ended(run)).toBe('success');
      expect((await questions(other, run)).map(({ value }) => value)).toEqual(['really?']);
      const last = await other.submit(thread_id, { ...UPDATES, input: null, command: { resume: 'yes' } });
      expect(await other.ended(last)).toBe('success');
      const logs = (await other.events(last)).flatMap(
        ([, data]) => Object.values(data ?? {}) as { log?: string[] }[],
      );
      expect(logs.flatMap(({ log }) => log ?? [])).toContain('deploy: there, yes');
      await other.worker.stop(0);
    },
  );
});

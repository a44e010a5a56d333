import { expect, test } from 'vitest';
import type { Run } from '../../src/schemas/runs.ts';
import type { HttpClient } from '../support/http-client.ts';
import { createThread, joinRun, listRuns } from '../support/remote-runs.ts';
import { ENGINE_OF_TESTS } from '../support/test-database.ts';
import { startChaosServer } from './server.ts';

const CREATES = 50;
/** A run that ends before the next one is created is neither interrupted, rolled back nor in its way. */
const OUTLASTS_CREATES_MS = 15_000;

test('enqueue: 50 runs created at once execute one after another, all of them', async () => {
  await using server = await startChaosServer();
  const { http } = server;
  const story = await create50(http, { strategy: 'enqueue', ms: 20 });

  expect(story.statuses).toEqual(Array(CREATES).fill(200));
  expect(story.mostRunning).toBe(1);
  expect(story.runs.map(({ status }) => status)).toEqual(Array(CREATES).fill('success'));
  const { most, finished } = await lastWords(http, story.thread_id);
  expect(most).toBe(1);
  // Each label once.
  expect((finished as string[]).toSorted()).toEqual([...labels(), 'last'].toSorted());
});

test('reject: of 50 runs created at once one is accepted and 49 are rejected', async () => {
  await using server = await startChaosServer();
  const { http } = server;
  const story = await create50(http, { strategy: 'reject', ms: OUTLASTS_CREATES_MS });

  expect(story.statuses.toSorted()).toEqual([200, ...Array(CREATES - 1).fill(409)]);
  expect(story.mostRunning).toBe(1);
  expect(story.runs.map(({ status }) => status)).toEqual(['success']);
  expect((await lastWords(http, story.thread_id)).most).toBe(1);
});

test('interrupt: of 50 runs created at once only the last one completes, after the others were interrupted', async () => {
  await using server = await startChaosServer();
  const { http } = server;
  const story = await create50(http, { strategy: 'interrupt', ms: OUTLASTS_CREATES_MS });

  expect(story.statuses).toEqual(Array(CREATES).fill(200));
  expect(story.mostRunning).toBe(1);
  const ends = story.runs.map(({ status }) => status);
  // PostgreSQL dates a run before it waits for its turn on the thread, so that the last one may not be the newest.
  const isDatedInTurn = ENGINE_OF_TESTS === 'sqlite';
  const newestLast = isDatedInTurn ? ends.toReversed() : ends.toSorted();
  expect(newestLast).toEqual([...Array(CREATES - 1).fill('interrupted'), 'success']);
  expect((await lastWords(http, story.thread_id)).most).toBe(1);
});

test('rollback: of 50 runs created at once only the last one is left', async () => {
  await using server = await startChaosServer();
  const { http } = server;
  const story = await create50(http, { strategy: 'rollback', ms: OUTLASTS_CREATES_MS });

  expect(story.statuses).toEqual(Array(CREATES).fill(200));
  expect(story.mostRunning).toBe(1);
  expect(story.runs.map(({ status }) => status)).toEqual(['success']);
  const { most, finished } = await lastWords(http, story.thread_id);
  expect(most).toBe(1);
  expect(finished).toHaveLength(2);
});

interface Story {
  readonly thread_id: string;
  /** HTTP status of each create. */
  readonly statuses: number[];
  /** Runs of status `running` that were ever listed together. */
  readonly mostRunning: number;
  /** Newest first, when all have ended. */
  readonly runs: Run[];
}

async function create50(
  http: HttpClient,
  { strategy, ms }: { strategy: string; ms: number },
): Promise<Story> {
  const thread_id = await createThread(http);
  const path = `/threads/${thread_id}/runs`;
  const creating = labels().map((label) =>
    http.send('POST', path, {
      body: { assistant_id: 'overlap', input: { ms, label }, multitask_strategy: strategy },
    }),
  );
  let created = false;
  const answers = Promise.all(creating).finally(() => {
    created = true;
  });
  let mostRunning = 0;
  for (;;) {
    const complete = created;
    const runs = await listRuns(http, thread_id);
    mostRunning = Math.max(mostRunning, runs.filter(({ status }) => status === 'running').length);
    const open = runs.some(({ status }) => status === 'running' || status === 'pending');
    if (complete && !open) {
      const statuses = (await answers).map(({ status }) => status);
      return { thread_id, statuses, mostRunning, runs };
    }
  }
}

/** One run more, which tells what the graph has seen of all of them. */
async function lastWords(http: HttpClient, thread_id: string): Promise<Record<string, unknown>> {
  const body = { assistant_id: 'overlap', input: { ms: 0, label: 'last' } };
  const { run_id } = await http.call<Run>('POST', `/threads/${thread_id}/runs`, body);
  return joinRun(http, { thread_id, run_id });
}

function labels(): string[] {
  return Array.from({ length: CREATES }, (_, index) => `run ${index}`);
}

import { expect } from 'vitest';
import { columns } from '../../src/db/columns.ts';
import type { Db } from '../../src/db/db.ts';
import { sql } from '../../src/db/sql.ts';
import type { ThreadState } from '../../src/schemas/thread-state.ts';
import type { HttpClient } from '../support/http-client.ts';
import { getRun, getThread, type RemoteRun, startRun } from '../support/remote-runs.ts';
import { until } from '../support/until.ts';

/** A run whose steps are long enough that what happens in the first is not part of the end. */
export const TEN_STEPS = {
  assistant_id: 'ten-steps',
  input: { n: 0 },
  config: { configurable: { step_ms: 30 } },
  stream_resumable: true,
};

/** What one run adds to `executed`. */
export const TEN = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];

/**
 * A run of ten steps, the first of its thread, comes to its end: each step counted once, a dense log, and
 * then another run of the thread.
 */
export async function expectWhole(
  { http, db }: { readonly http: HttpClient; readonly db: Db },
  run: RemoteRun,
): Promise<void> {
  await untilSuccess(http, run);
  await expectDenseLog(db, run);
  const { status, values } = await getThread(http, run.thread_id);
  expect({ status, values }).toEqual({ status: 'idle', values: { n: 10, executed: TEN } });
  await untilSuccess(http, await startRun(http, TEN_STEPS, run.thread_id));
  expect((await getThread(http, run.thread_id)).values).toEqual({ n: 10, executed: [...TEN, ...TEN] });
}

/** Numbers from 1 on without a gap, and one end. */
export async function expectDenseLog(db: Db, { run_id }: RemoteRun): Promise<void> {
  const log = await db.all(
    sql`select ${columns('run_events', 'seq, event')} from run_events where run_id = ${run_id} order by seq`,
  );
  expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1));
  expect(log.flatMap(({ event }, index) => (event === '__end__' ? [index + 1] : []))).toEqual([log.length]);
}

/** Says why it is not so when it takes too long. */
export async function untilSuccess(http: HttpClient, run: RemoteRun): Promise<void> {
  const hasSucceeded = async () => (await getRun(http, run)).status === 'success';
  await until('the run has succeeded', hasSucceeded).catch(async (error: Error) => {
    const explained = await http.call('GET', `/runs/${run.run_id}/explain`);
    throw new Error(`${error.message}: ${JSON.stringify(explained)}`);
  });
}

export function untilStep(http: HttpClient, { thread_id }: RemoteRun, step: number): Promise<void> {
  return until(`step ${step} is done`, async () => {
    const { values } = await http.call<ThreadState>('GET', `/threads/${thread_id}/state`);
    return ((values as { n?: number }).n ?? 0) >= step;
  });
}

import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import type { RunSteps, Step } from '../../src/schemas/steps.ts';
import { openApp } from '../support/app.ts';

/** As Studio has them: `current` is never null. */
type Steps = RunSteps & { current: NonNullable<RunSteps['current']> };
interface Row {
  readonly id: string;
  readonly depth: number;
  readonly name: string;
  readonly from: number;
  readonly to: number;
}
// By its path: what it imports is of browsers, whose types are not those of the server.
const layout = resolve(import.meta.dirname, '../../studio/src/screens/run/timeline-rows.ts');
const { scale, timelineRows } = (await import(layout)) as {
  scale(span: number): number[];
  timelineRows(steps: Steps, now: number): { rows: readonly Row[]; start: number; span: number };
};

const folder = resolve(import.meta.dirname, '../fixtures/recorded-graphs');
const SECOND = Date.parse('2026-01-01T00:00:00.000Z');
/** Milliseconds after that second. */
const at = (ms: number) => new Date(SECOND + ms).toISOString();

const STEP: Step = {
  ...{ attempt: 1, number: 1, parent: null, kind: 'node', name: 'work', node: 'work', namespace: '' },
  ...{
    task_id: null,
    superstep: 1,
    checkpoint_id: null,
    status: 'success',
    error: null,
    span_id: '0'.repeat(16),
  },
  ...{ model: null, provider: null, tokens_in: null, tokens_cached: null, tokens_out: null, cost: null },
  ...{ started_at: at(0), ended_at: at(1) },
};

const ATTEMPT: Steps['attempts'][number] = {
  ...{ attempt: 1, worker_id: '0'.repeat(8), started_at: at(0), ended_at: at(9), status: 'success' },
  ...{ span_id: '0'.repeat(16), resumed_from_run_id: null },
};

const of = (parts: Partial<Steps>): Steps => ({
  ...{ run_id: '', trace_id: '', attempts: [ATTEMPT], steps: [], current: [], next: null },
  ...parts,
});

/** Names with their times in ms after the second. */
const shown = (steps: Steps, now_ms = 1000) =>
  timelineRows(steps, SECOND + now_ms).rows.map(
    ({ name, depth, from, to }) => `${'-'.repeat(depth)}${name} ${from - SECOND}-${to - SECOND}`,
  );

test('each step of a timeline has its recorded times, to the millisecond, even in subgraphs', async () => {
  await using http = await openApp({ graphs: ['recorded'], folder });
  const thread_id = await http.thread();
  const body = { assistant_id: 'recorded', input: { ask: false } };
  const { headers } = await http.post(`/threads/${thread_id}/runs/wait`, body);
  const run_id = String(headers['content-location']).split('/')[4];
  const recorded = (await http.get(`/runs/${run_id}/steps`)).body as Steps;
  expect(recorded.steps.some(({ namespace }) => namespace !== '')).toBe(true);

  const { rows, start, span } = timelineRows(recorded, Date.now());
  expect(new Map(rows.map(({ id, from, to }) => [id, [from, to]]))).toEqual(
    new Map(
      recorded.steps.map(({ attempt, number, started_at, ended_at }) => [
        `${attempt}.${number}`,
        [Date.parse(started_at), Date.parse(ended_at)],
      ]),
    ),
  );
  expect(rows).toHaveLength(recorded.steps.length);
  const ends = recorded.steps.map(({ ended_at }) => Date.parse(ended_at));
  expect(start).toBe(Date.parse(recorded.attempts[0]?.started_at ?? ''));
  expect(start + span).toBe(Math.max(...ends));
});

test('a timeline shows steps below their attempt, and an attempt whose process died lasts until its last step', () => {
  const steps = [
    { ...STEP, started_at: at(3), ended_at: at(4) },
    { ...STEP, attempt: 2, started_at: at(107), ended_at: at(207) },
    { ...STEP, attempt: 2, number: 2, parent: 1, name: 'model', started_at: at(108), ended_at: at(200) },
  ];
  const lost = { ...ATTEMPT, ended_at: null, status: 'lost' } as const;
  const second = { ...ATTEMPT, attempt: 2, started_at: at(100), ended_at: at(208) };
  expect(shown(of({ attempts: [lost, second], steps }))).toEqual([
    'Attempt 1 0-4',
    '-work 3-4',
    'Attempt 2 100-208',
    '-work 107-207',
    '--model 108-200',
  ]);
});

test('an executing step of a timeline lasts until now, but never ends before its start', () => {
  const { cost: _none, ...running } = { ...STEP, status: 'running' as const, ended_at: null };
  const current = [
    { ...running, number: 2, started_at: at(50) },
    {
      ...running,
      number: 3,
      parent: 2,
      name: 'model',
      started_at: at(60),
      ended_at: at(70),
      status: 'success' as const,
    },
  ];
  const attempts = [{ ...ATTEMPT, status: 'running' as const, ended_at: null }];
  const steps = of({ attempts, steps: [STEP], current });
  expect(shown(steps)).toEqual(['work 0-1', 'work 50-1000', '-model 60-70']);
  expect(shown(steps, 40)).toEqual(['work 0-1', 'work 50-50', '-model 60-70']);
});

test('a timeline shows steps of an attempt that is not recorded yet', () => {
  const { cost: _none, ...running } = { ...STEP, status: 'running' as const, ended_at: null };
  expect(shown(of({ attempts: [], current: [{ ...running, started_at: at(5) }] }))).toEqual(['work 5-1000']);
  const lost = { ...ATTEMPT, ended_at: null, status: 'lost' } as const;
  const current = [{ ...running, attempt: 2, started_at: at(500) }];
  expect(shown(of({ attempts: [lost], steps: [STEP], current }))).toEqual([
    'Attempt 1 0-1',
    '-work 0-1',
    'Attempt 2 500-1000',
    '-work 500-1000',
  ]);
});

test('the axis of a timeline has up to five round times, in whole milliseconds', () => {
  expect(scale(1)).toEqual([0, 1]);
  expect(scale(9)).toEqual([0, 5]);
  expect(scale(92)).toEqual([0, 25, 50, 75]);
  expect(scale(8_000)).toEqual([0, 2_000, 4_000, 6_000, 8_000]);
});

import { count } from '../../ui/format.tsx';
import { nestedSteps } from './nested-steps.ts';
import type { Attempt, ShownStep, Steps } from './run-queries.ts';

/** A bar of the timeline: an attempt, or a step. */
export interface Row {
  readonly id: string;
  readonly depth: number;
  readonly name: string;
  readonly note: string;
  /** Absent for an attempt. */
  readonly step?: ShownStep;
  /** Epoch ms. */
  readonly from: number;
  readonly to: number;
}

export interface TimelineRows {
  readonly rows: readonly Row[];
  readonly start: number;
  readonly span: number;
}

/**
 * Rows in order of their start, each step below its parent. Attempts have a row if there is more than one. Unfinished steps
 * last until `now`. `start` is the first start, `span` the time until the last end, both in ms.
 */
export function timelineRows({ attempts, steps, current }: Steps, now: number): TimelineRows {
  const all: readonly ShownStep[] = [...steps, ...current];
  const times = all.flatMap((step) => [Date.parse(step.started_at), endOf(step, now)]);
  const listed = allAttempts(attempts, all);
  const begun = listed.map(({ started_at }) => Date.parse(started_at));
  const start = [...begun, ...times].reduce((least, each) => Math.min(least, each), Number.POSITIVE_INFINITY);
  const end = [...begun, ...times].reduce((most, each) => Math.max(most, each), 0);
  const hasAttempts = listed.length > 1;
  const rows: Row[] = [];
  for (const { attempt, started_at, ended_at, status } of listed) {
    const own = all.filter((step) => step.attempt === attempt);
    if (hasAttempts) {
      const from = Date.parse(started_at);
      const to =
        ended_at === null
          ? own.reduce((most, step) => Math.max(most, endOf(step, now)), from)
          : Date.parse(ended_at);
      rows.push({ id: `attempt-${attempt}`, depth: 0, name: `Attempt ${attempt}`, note: status, from, to });
    }
    for (const { step, depth } of nestedSteps(own)) {
      rows.push({
        id: `${step.attempt}.${step.number}`,
        depth: depth + (hasAttempts ? 1 : 0),
        name: step.name,
        note: noteOf(step),
        step,
        from: Date.parse(step.started_at),
        to: endOf(step, now),
      });
    }
  }
  return { rows, start, span: Math.max(1, end - start) };
}

type ShownAttempt = Pick<Attempt, 'attempt' | 'started_at' | 'ended_at' | 'status'>;

/** Attempts in order. One is recorded with its first checkpoint, but its steps are known before. */
function allAttempts(recorded: readonly ShownAttempt[], steps: readonly ShownStep[]): ShownAttempt[] {
  const known = new Set(recorded.map(({ attempt }) => attempt));
  const others = new Map<number, ShownAttempt>();
  for (const { attempt, started_at } of steps) {
    const earlier = others.get(attempt)?.started_at;
    if (known.has(attempt) || (earlier !== undefined && earlier <= started_at)) continue;
    others.set(attempt, { attempt, started_at, ended_at: null, status: 'running' });
  }
  return [...recorded, ...others.values()].sort((a, b) => a.attempt - b.attempt);
}

/** Never before its start: the local clock may be behind the server's. */
function endOf({ started_at, ended_at }: ShownStep, now: number): number {
  return ended_at === null ? Math.max(now, Date.parse(started_at)) : Date.parse(ended_at);
}

function noteOf({ kind, tokens_in, tokens_out }: ShownStep): string {
  if (kind === 'tool' || kind === 'retriever' || kind === 'store') return kind;
  if (kind !== 'model' || tokens_in === null) return '';
  return `${count(tokens_in)} → ${count(tokens_out ?? 0)} tok`;
}

/** Axis ticks over `span` ms: at most five, at round values. */
export function scale(span: number): number[] {
  const rough = Math.max(1, span / 4);
  const power = 10 ** Math.floor(Math.log10(rough));
  // Ticks are labelled in whole ms.
  const factors = power === 1 ? [1, 2, 5, 10] : [1, 2, 2.5, 5, 10];
  const step = (factors.find((factor) => factor * power >= rough) ?? 10) * power;
  return Array.from({ length: Math.floor(span / step) + 1 }, (_, i) => i * step);
}

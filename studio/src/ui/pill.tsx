import type { ReactNode } from 'react';
import type { Schemas } from '../api/client.ts';

const TONES = {
  ok: 'bg-ok-bg text-ok',
  run: 'bg-run-bg text-run',
  wait: 'bg-wait-bg text-wait',
  err: 'bg-err-bg text-err',
  idle: 'bg-idle-bg text-ink-2',
} as const;

export type Tone = keyof typeof TONES;

/** A state as a word, with a coloured dot. */
export function Pill({ tone, children }: { tone: Tone; children: ReactNode }) {
  return (
    <span
      className={`inline-flex items-center gap-1.5 rounded-[10px] px-2 text-xs leading-5 font-medium whitespace-nowrap ${TONES[tone]}`}
    >
      <span className="size-1.5 rounded-full bg-current" aria-hidden="true" />
      {children}
    </span>
  );
}

/** Tones by status of runs, threads, attempts and steps. */
const STATUS_TONES: Readonly<Record<string, Tone>> = {
  success: 'ok',
  running: 'run',
  busy: 'run',
  pending: 'idle',
  idle: 'idle',
  interrupted: 'wait',
  retried: 'wait',
  lost: 'err',
  error: 'err',
  timeout: 'err',
};

/** The status of a run, a thread, an attempt or a step. */
export function StatusPill({ status }: { status: string }) {
  return <Pill tone={STATUS_TONES[status] ?? 'idle'}>{status}</Pill>;
}

/** The status of a run in a list: `waiting` until someone answers what it asked. */
export function RunPill({ run }: { run: Pick<Schemas['RunSummary'], 'status' | 'waiting'> }) {
  return run.waiting ? <Pill tone="wait">waiting</Pill> : <StatusPill status={run.status ?? ''} />;
}

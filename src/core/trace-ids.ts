import { hash } from 'node:crypto';

/** The span that others are children of, as `traceparent` of W3C Trace Context names it. */
export interface TraceParent {
  /** 32 hexadecimal digits. */
  readonly trace_id: string;
  /** 16 hexadecimal digits. */
  readonly span_id: string;
  /** Whether the trace is recorded. */
  readonly sampled: boolean;
}

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?=$|-)/;

/** `undefined` for anything that is no valid `traceparent`: the specification has such a one ignored. */
export function parseTraceparent(text: unknown): TraceParent | undefined {
  const [, trace_id = '', span_id = '', flags = ''] =
    (typeof text === 'string' && TRACEPARENT.exec(text)) || [];
  if (/^0*$/.test(trace_id) || /^0*$/.test(span_id)) return undefined;
  return { trace_id, span_id, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/** Where the configuration of a run keeps the `traceparent` of its caller. */
export const CALLER_SPAN = '__traceparent__';

/** The span of the caller that a run is part of. `configurable`: the run's. */
export function callerSpanOf(configurable: Readonly<Record<string, unknown>>): TraceParent | undefined {
  return parseTraceparent(configurable[CALLER_SPAN]);
}

/** Trace of a run: the one of its caller, else the run's id; 32 hexadecimal digits. `configurable`: the run's. */
export function traceIdOf(run_id: string, configurable: Readonly<Record<string, unknown>>): string {
  return callerSpanOf(configurable)?.trace_id ?? run_id.replaceAll('-', '').toLowerCase();
}

/** The run's span as a `traceparent`, for callees whose spans shall become part of the run's. */
export function traceparentOf(run_id: string, configurable: Readonly<Record<string, unknown>>): string {
  const flags = callerSpanOf(configurable)?.sampled === false ? '00' : '01';
  return `00-${traceIdOf(run_id, configurable)}-${runSpanIdOf(run_id)}-${flags}`;
}

/**
 * Span of an attempt, or of its step with this number: 16 hexadecimal digits. Derived, so that a reader of the step
 * from the database names the same span as who executed it.
 */
export function spanIdOf(run_id: string, attempt: number, step = 0): string {
  return hash('sha256', `${run_id}/${attempt}/${step}`).slice(0, 16);
}

/** Span of the whole run, which holds those of its attempts. */
export function runSpanIdOf(run_id: string): string {
  return spanIdOf(run_id, 0);
}

import { traceIdOf } from '../../core/trace-ids.ts';
import type { GraphConfig } from '../graph.ts';

/** A run, as log fields. */
export interface RunFields {
  readonly run_id: string | undefined;
  readonly thread_id: string | undefined;
  readonly assistant_id?: string | undefined;
  readonly graph: string | undefined;
  readonly attempt?: number | undefined;
  readonly trace_id?: string | undefined;
}

/** The run that LangGraph was called with this configuration for, as log fields. */
export function runFieldsOf({ configurable, metadata = {} }: GraphConfig): RunFields {
  const run_id = textIn(configurable, 'run_id');
  const { run_attempt } = metadata;
  return {
    run_id,
    thread_id: textIn(configurable, 'thread_id'),
    assistant_id: textIn(configurable, 'assistant_id'),
    graph: textIn(configurable, 'graph_id'),
    attempt: typeof run_attempt === 'number' ? run_attempt : undefined,
    trace_id: run_id && traceIdOf(run_id, configurable),
  };
}

export function textIn(of: Record<string, unknown>, name: string): string | undefined {
  return typeof of[name] === 'string' ? of[name] : undefined;
}

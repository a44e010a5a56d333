import type { EndedRun } from '../../schemas/system.ts';
import { boundedLabel } from './labels.ts';
import { type Meters, OURS } from './meters.ts';
import { Counter, Histogram } from './prometheus.ts';

/** Upper bounds of the run duration histogram, seconds. */
const BUCKETS_S = [0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 3600];

/** Counts ended runs by graph and status and records their durations: the basis of an alert on failing runs. */
export function countRuns(
  onRunEnded: (listener: (run: EndedRun) => void) => void,
  { registry }: Meters,
): void {
  const registers = [registry];
  const graphLabel = boundedLabel();
  const ended = new Counter({
    name: `${OURS}runs_ended_total`,
    help: 'Runs that ended in this process.',
    labelNames: ['graph', 'status'] as const,
    registers,
  });
  const duration = new Histogram({
    name: `${OURS}run_duration_seconds`,
    help: 'Execution time of the last attempt of a run.',
    labelNames: ['graph'] as const,
    buckets: BUCKETS_S,
    registers,
  });
  const waited = new Histogram({
    name: `${OURS}run_queue_seconds`,
    help: 'Time that a run waited for its first attempt.',
    buckets: BUCKETS_S,
    registers,
  });
  const stopped = new Counter({
    name: `${OURS}runs_stopped_by_budget_total`,
    help: 'Runs that a budget stopped in this process, by scope and limit of the budget.',
    labelNames: ['budget', 'limit'] as const,
    registers,
  });
  onRunEnded(({ graph_id, status, ms, queue_ms, stopped_by }) => {
    const graph = graphLabel(graph_id);
    ended.inc({ graph, status });
    if (stopped_by) stopped.inc({ budget: stopped_by.scope, limit: stopped_by.limit });
    if (ms !== undefined) duration.observe({ graph }, ms / 1000);
    if (queue_ms !== undefined) waited.observe(queue_ms / 1000);
  });
}

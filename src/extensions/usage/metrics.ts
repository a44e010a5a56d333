import { boundedLabel } from '../../http/metrics/labels.ts';
import { type Meters, OURS } from '../../http/metrics/meters.ts';
import type { EngineStats } from '../../http/metrics/metrics.ts';
import { Counter } from '../../http/metrics/prometheus.ts';

/** Sums up the cost of recorded model calls by assistant. */
export function measureCost(
  { onStepsStored }: Pick<EngineStats, 'onStepsStored'>,
  { registry }: Meters,
): void {
  const assistantLabel = boundedLabel();
  const graphLabel = boundedLabel();
  const cost = new Counter({
    name: `${OURS}cost_total`,
    help: 'Cost of model calls in this process, in the configured currency.',
    labelNames: ['assistant', 'graph'] as const,
    registers: [registry],
  });
  onStepsStored(({ assistant_id, graph_id, steps }) => {
    for (const step of steps) {
      if (step.kind !== 'model' || step.cost === null) continue;
      cost.inc({ assistant: assistantLabel(assistant_id), graph: graphLabel(graph_id) }, step.cost);
    }
  });
}

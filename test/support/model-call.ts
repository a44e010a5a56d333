import { systemClock } from '../../src/core/clock.ts';
import type { RecordedStep } from '../../src/schemas/steps.ts';

/** A call of a model that has ended now. */
export function modelCall(number: number, tokens: number): RecordedStep {
  const now = systemClock.now();
  return {
    number,
    parent: null,
    kind: 'model',
    name: 'Model',
    node: 'n',
    namespace: '',
    task_id: null,
    superstep: 1,
    checkpoint_id: null,
    started_at: now,
    ended_at: now,
    status: 'success',
    error: null,
    model: 'small',
    provider: null,
    tokens_in: tokens,
    tokens_cached: null,
    tokens_out: 0,
  };
}

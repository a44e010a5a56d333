import { conventionalProvider } from '../../core/genai-providers.ts';
import type { StoredSteps } from '../../schemas/system.ts';
import { boundedLabel } from './labels.ts';
import { type Meters, OURS } from './meters.ts';
import { Counter, Histogram } from './prometheus.ts';

/** Bucket bounds that OpenTelemetry's GenAI conventions advise: tokens per call, and seconds. */
const BUCKETS_OF_TOKENS = Array.from({ length: 14 }, (_, power) => 4 ** power);
const BUCKETS_OF_SECONDS = Array.from({ length: 14 }, (_, power) => 0.01 * 2 ** power);

type StoredStep = StoredSteps['steps'][number];

/**
 * Counts recorded model and tool calls: tokens by assistant, and the metrics of the GenAI conventions.
 * Calls that `runs.record` excludes are not counted.
 */
export function countCalls(
  onStepsStored: (listener: (stored: StoredSteps) => void) => void,
  meters: Meters,
): void {
  const countUse = useByAssistant(meters);
  const measure = genAiMetrics(meters);
  onStepsStored(({ assistant_id, graph_id, steps }) => {
    for (const step of steps) {
      if (step.kind === 'model') countUse(assistant_id, graph_id, step);
      // The histograms cover single calls only, not merged steps.
      if (step.calls === undefined) measure(step);
    }
  });
}

function useByAssistant({ registry }: Meters) {
  const assistantLabel = boundedLabel();
  const graphLabel = boundedLabel();
  const shared = { registers: [registry] };
  const tokens = new Counter({
    ...shared,
    name: `${OURS}tokens_total`,
    help: 'Tokens that models read and wrote in runs of this process.',
    labelNames: ['assistant', 'graph', 'type'] as const,
  });
  return (assistant_id: string, graph_id: string, step: StoredStep) => {
    const labels = { assistant: assistantLabel(assistant_id), graph: graphLabel(graph_id) };
    tokens.inc({ ...labels, type: 'input' }, step.tokens_in ?? 0);
    tokens.inc({ ...labels, type: 'output' }, step.tokens_out ?? 0);
  };
}

/** `gen_ai.client.token.usage`, `gen_ai.client.operation.duration` and `gen_ai.execute_tool.duration`. */
function genAiMetrics({ registry }: Meters) {
  const modelLabel = boundedLabel();
  const providerLabel = boundedLabel();
  const toolLabel = boundedLabel();
  const shared = { registers: [registry] };
  const ofModel = ['gen_ai_operation_name', 'gen_ai_provider_name', 'gen_ai_request_model'] as const;
  const usage = new Histogram({
    ...shared,
    name: 'gen_ai_client_token_usage',
    help: 'Tokens per model call.',
    labelNames: [...ofModel, 'gen_ai_token_type'] as const,
    buckets: BUCKETS_OF_TOKENS,
  });
  const duration = new Histogram({
    ...shared,
    name: 'gen_ai_client_operation_duration_seconds',
    help: 'Duration of model calls.',
    labelNames: [...ofModel, 'error_type'] as const,
    buckets: BUCKETS_OF_SECONDS,
  });
  const tool = new Histogram({
    ...shared,
    name: 'gen_ai_execute_tool_duration_seconds',
    help: 'Duration of tool calls.',
    labelNames: ['gen_ai_tool_name', 'error_type'] as const,
    buckets: BUCKETS_OF_SECONDS,
  });
  return (step: StoredStep) => {
    if (step.kind !== 'tool' && step.kind !== 'model') return;
    const seconds = (step.ended_at - step.started_at) / 1000;
    const error_type = step.status === 'error' || step.status === 'cancelled' ? step.status : '';
    if (step.kind === 'tool') {
      tool.observe({ gen_ai_tool_name: toolLabel(step.name), error_type }, seconds);
      return;
    }
    const model = {
      gen_ai_operation_name: 'chat',
      gen_ai_provider_name: providerLabel(conventionalProvider(step.provider ?? '')),
      gen_ai_request_model: modelLabel(step.model ?? ''),
    };
    duration.observe({ ...model, error_type }, seconds);
    for (const [gen_ai_token_type, tokens] of Object.entries({
      input: step.tokens_in,
      output: step.tokens_out,
    }))
      if (tokens !== null) usage.observe({ ...model, gen_ai_token_type }, tokens);
  };
}

import type { MaskSecrets } from '../../core/mask-secrets.ts';
import type { RecordedStep, StepContents } from '../../schemas/steps.ts';
import type { RunError } from '../../schemas/threads.ts';

export type Attributes = Readonly<Record<string, string | number | boolean>>;

/** A step with its times in epoch ms. */
export type TracedStep = Omit<RecordedStep, 'task_id'>;

type Given = Readonly<Record<string, string | number | null | undefined>>;

/**
 * Attributes of a run, by OpenTelemetry's GenAI conventions and OpenInference. Masks secrets in the contents;
 * omits the message of an error, which may quote contents.
 */
export function attributesOfRun(
  run: {
    run_id: string;
    thread_id: string;
    assistant_id: string;
    agent_name: string;
    agent_version: string | undefined;
    graph_id: string;
  },
  {
    status,
    error,
    contents,
  }: { status: string; error: RunError | null; contents?: StepContents | undefined },
  mask: MaskSecrets,
): Attributes {
  return known({
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.id': run.assistant_id,
    'gen_ai.agent.name': run.agent_name,
    'gen_ai.agent.version': run.agent_version,
    'gen_ai.conversation.id': run.thread_id,
    'session.id': run.thread_id,
    'openinference.span.kind': 'AGENT',
    'agent_server.graph.id': run.graph_id,
    'agent_server.run.id': run.run_id,
    'agent_server.run.status': status,
    'error.type': status === 'error' || status === 'timeout' ? (error?.error ?? status) : undefined,
    ...ofContents({ kind: 'run', contents }, mask),
  });
}

/** Attributes of a step, as above; only calls have contents. */
export function attributesOfStep(
  run: { run_id: string; thread_id: string },
  step: TracedStep,
  mask: MaskSecrets,
): Attributes {
  return known({
    'gen_ai.conversation.id': run.thread_id,
    'session.id': run.thread_id,
    'agent_server.run.id': run.run_id,
    'agent_server.step.number': step.number,
    'agent_server.step.status': step.status,
    'langgraph.node': step.node,
    'langgraph.step': step.superstep,
    'langgraph.checkpoint_ns': step.namespace || undefined,
    'error.type': step.status === 'error' ? (step.error?.error ?? 'Error') : undefined,
    ...ofKind(step),
    ...ofContents(step, mask),
  });
}

function ofKind(step: TracedStep): Given {
  switch (step.kind) {
    case 'node':
      return { 'openinference.span.kind': 'CHAIN' };
    case 'tool':
      return {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': step.name,
        'openinference.span.kind': 'TOOL',
        'tool.name': step.name,
      };
    case 'model':
      return ofModel(step);
    case 'retriever':
      return {
        'gen_ai.operation.name': 'retrieval',
        'gen_ai.provider.name': step.provider,
        'openinference.span.kind': 'RETRIEVER',
      };
    case 'store':
      return {
        'gen_ai.operation.name': memoryOperation(step.name),
        'openinference.span.kind': step.name === 'search' || step.name === 'get' ? 'RETRIEVER' : 'CHAIN',
        'agent_server.store.call': step.name,
      };
  }
}

/** The conventions' name for a call of the long-term store. */
export function memoryOperation(call: string): string {
  return call === 'put' ? 'upsert_memory' : call === 'delete' ? 'delete_memory' : 'search_memory';
}

/** `kind`: of the step, or `run`. */
function ofContents(
  { kind, contents }: { kind: TracedStep['kind'] | 'run'; contents?: StepContents | undefined },
  mask: MaskSecrets,
): Given {
  if (!contents) return {};
  const [input, output] = [contents.input, contents.output].map((text) => text && mask(text));
  const mime_type = kind === 'model' || kind === 'run' ? 'application/json' : undefined;
  return {
    ...ownContents(kind, input, output),
    'input.value': input,
    'input.mime_type': input && mime_type,
    'output.value': output,
    'output.mime_type': output && mime_type,
  };
}

function ownContents(
  kind: TracedStep['kind'] | 'run',
  input: string | undefined,
  output: string | undefined,
): Given {
  switch (kind) {
    case 'tool':
      return { 'gen_ai.tool.call.arguments': input, 'gen_ai.tool.call.result': output };
    case 'retriever':
      return { 'gen_ai.retrieval.query.text': input };
    case 'store':
      return {};
    default:
      return { 'gen_ai.input.messages': input, 'gen_ai.output.messages': output };
  }
}

function ofModel({ model, provider, tokens_in, tokens_cached, tokens_out }: TracedStep): Given {
  const total = tokens_in === null || tokens_out === null ? undefined : tokens_in + tokens_out;
  return {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': provider,
    'gen_ai.request.model': model,
    'gen_ai.usage.input_tokens': tokens_in,
    'gen_ai.usage.cache_read.input_tokens': tokens_cached,
    'gen_ai.usage.output_tokens': tokens_out,
    'openinference.span.kind': 'LLM',
    'llm.model_name': model,
    'llm.provider': provider,
    'llm.token_count.prompt': tokens_in,
    'llm.token_count.completion': tokens_out,
    'llm.token_count.total': total,
  };
}

function known(given: Given): Attributes {
  const entries = Object.entries(given).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(entries) as Attributes;
}

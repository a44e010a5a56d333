import { conventionalProvider } from '../../core/genai-providers.ts';
import type { MaskSecrets } from '../../core/mask-secrets.ts';
import type { RecordedStep, StepContents } from '../../schemas/steps.ts';
import type { RunError } from '../../schemas/threads.ts';
import { attributesOfContents } from './contents.ts';
import type { GenAiConventions } from './settings.ts';

export type Attributes = Readonly<Record<string, string | number | boolean>>;

/** A step with its times in epoch ms. */
export type TracedStep = Omit<RecordedStep, 'task_id'>;

type Given = Readonly<Record<string, string | number | null | undefined>>;

/** The run that a span belongs to, with name and version of its assistant when it was created. */
export interface SpanOwner {
  readonly run_id: string;
  readonly thread_id: string;
  readonly assistant_id: string;
  readonly agent_name: string;
  readonly agent_version: string | undefined;
  readonly graph_id: string;
}

/**
 * Attributes of a run, by OpenTelemetry's GenAI conventions and OpenInference. Masks secrets in the contents;
 * omits the message of an error, which may quote contents.
 */
export function attributesOfRun(
  run: SpanOwner,
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
    ...ofThread(run),
    ...ofSpanKind('AGENT'),
    'agent_server.graph.id': run.graph_id,
    'agent_server.run.status': status,
    'error.type': status === 'error' || status === 'timeout' ? (error?.error ?? status) : undefined,
    ...attributesOfContents({ kind: 'run', contents }, mask),
  });
}

/** Attributes of a step, as above; only calls have contents. */
export function attributesOfStep(run: SpanOwner, step: TracedStep, mask: MaskSecrets): Attributes {
  return known({
    ...ofThread(run),
    'agent_server.step.number': step.number,
    'agent_server.step.status': step.status,
    'langgraph.node': step.node,
    'langgraph.step': step.superstep,
    'langgraph.checkpoint_ns': step.namespace || undefined,
    'error.type': step.status === 'error' ? (step.error?.error ?? 'Error') : undefined,
    ...ofKind(run, step),
    ...attributesOfContents(step, mask),
  });
}

/** Groups the spans of a thread: of each span, as LangSmith and Langfuse sum and filter single spans by it. */
function ofThread({ run_id, thread_id }: SpanOwner): Given {
  return {
    'gen_ai.conversation.id': thread_id,
    'session.id': thread_id,
    'langsmith.metadata.thread_id': thread_id,
    'agent_server.run.id': run_id,
  };
}

/** By LangSmith's name too: where a span has an operation, LangSmith knows no kinds but those of models and tools. */
const LANGSMITH_KINDS = {
  AGENT: 'chain',
  CHAIN: 'chain',
  LLM: 'llm',
  TOOL: 'tool',
  RETRIEVER: 'retriever',
} as const;

function ofSpanKind(kind: keyof typeof LANGSMITH_KINDS): Given {
  return { 'openinference.span.kind': kind, 'langsmith.span.kind': LANGSMITH_KINDS[kind] };
}

/** Attributes of an attempt: one invocation of the graph. */
export function attributesOfAttempt(run: SpanOwner, own: Given, conventions: GenAiConventions): Attributes {
  return known({
    'gen_ai.operation.name': 'invoke_workflow',
    [conventions === 'latest' ? 'gen_ai.agent.name' : 'gen_ai.workflow.name']: run.graph_id,
    ...ofThread(run),
    ...ofSpanKind('CHAIN'),
    ...own,
  });
}

/** Such as `plan`, `planner` and `replan`: LangGraph's usual names of a node that plans what others execute. */
const PLANS = /^(re)?plan(ner|ning)?([_-]?(node|step))?$/i;

/** Whether a step is a phase of planning. Its name is the only sign: LangGraph knows no other. */
export function isPlan({ kind, name }: Pick<TracedStep, 'kind' | 'name'>): boolean {
  return kind === 'node' && PLANS.test(name);
}

function ofPlan(run: SpanOwner): Given {
  return {
    'gen_ai.operation.name': 'plan',
    'gen_ai.agent.id': run.assistant_id,
    'gen_ai.agent.name': run.agent_name,
  };
}

function ofKind(run: SpanOwner, step: TracedStep): Given {
  switch (step.kind) {
    case 'node':
      return { ...(isPlan(step) && ofPlan(run)), ...ofSpanKind('CHAIN') };
    case 'tool':
      return {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': step.name,
        ...ofSpanKind('TOOL'),
        'tool.name': step.name,
      };
    case 'model':
      return ofModel(step);
    case 'retriever':
      return {
        'gen_ai.operation.name': 'retrieval',
        'gen_ai.provider.name': step.provider,
        ...ofSpanKind('RETRIEVER'),
      };
    case 'store':
      return {
        'gen_ai.operation.name': memoryOperation(step.name),
        ...ofSpanKind(step.name === 'search' || step.name === 'get' ? 'RETRIEVER' : 'CHAIN'),
        'agent_server.store.call': step.name,
      };
  }
}

/** The conventions' name for a call of the long-term store. */
export function memoryOperation(call: string): string {
  return call === 'put' ? 'upsert_memory' : call === 'delete' ? 'delete_memory' : 'search_memory';
}

function ofModel({ model, provider, tokens_in, tokens_cached, tokens_out }: TracedStep): Given {
  const total = tokens_in === null || tokens_out === null ? undefined : tokens_in + tokens_out;
  return {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': conventionalProvider(provider),
    'gen_ai.request.model': model,
    'gen_ai.usage.input_tokens': tokens_in,
    'gen_ai.usage.cache_read.input_tokens': tokens_cached,
    'gen_ai.usage.output_tokens': tokens_out,
    ...ofSpanKind('LLM'),
    'llm.model_name': model,
    'llm.provider': provider,
    'llm.system': provider,
    'llm.token_count.prompt': tokens_in,
    'llm.token_count.completion': tokens_out,
    'llm.token_count.total': total,
  };
}

function known(given: Given): Attributes {
  const entries = Object.entries(given).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(entries) as Attributes;
}

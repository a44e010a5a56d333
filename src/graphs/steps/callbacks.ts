import { tryOrUndefined } from '../../core/failure.ts';
import { isObject } from '../../core/json.ts';
import type { RecordedContents } from '../../schemas/step-contents.ts';
import type { StepContents } from '../../schemas/steps.ts';
import type { ContentKeeper } from './content-keeper.ts';
import { contentsOf, inputOf, outputOf, toolValueOf } from './contents.ts';
import {
  addTokens,
  NO_TOKENS,
  type OpenStep,
  placeOf,
  type StepRecorder,
  type TokenCounts,
} from './recorder.ts';

/**
 * LangChain callback handler, by shape, that records the calls of models, tools and retrievers, and what is no node of a
 * graph that the server knows: nodes of graphs that code of a node calls, and tasks of the functional API. It is given to
 * the code of nodes only: given to the graph, it would cost 0.15 ms in each step.
 */
export class StepCallbacks {
  readonly name = 'StepCallbacks';
  /** Otherwise LangChain queues each call, and steps end later than they did. */
  readonly awaitHandlers = true;
  readonly ignoreCustomEvent = true;
  readonly ignoreLLM: boolean;
  /** LangChain's switch of tools too. */
  readonly ignoreAgent: boolean;
  readonly ignoreRetriever: boolean;
  readonly #recorder: StepRecorder;
  /** Open calls by LangChain's id of the call. */
  readonly #open = new Map<string, OpenStep>();
  /** Inputs of the open calls, by the same id; empty unless contents are recorded. */
  readonly #inputs = new Map<string, string>();

  constructor(recorder: StepRecorder) {
    this.#recorder = recorder;
    this.ignoreLLM = this.ignoreAgent = this.ignoreRetriever = recorder.level === 'nodes';
  }

  /** Configurations that hold callbacks are written to logs and traces. */
  toJSON(): string {
    return '[StepCallbacks]';
  }

  readonly handleChatModelStart = (
    llm: unknown,
    input: unknown,
    id: string,
    parent_id?: string,
    extra?: Record<string, unknown>,
    _tags?: string[],
    metadata?: Record<string, unknown>,
    name?: string,
  ): void => {
    const settings = isObject(extra?.['invocation_params']) ? extra['invocation_params'] : {};
    const model = firstText(metadata?.['ls_model_name'], settings['model'], settings['model_name']);
    const provider = firstText(metadata?.['ls_provider']);
    this.#begin('model', id, parent_id, metadata, { name: name ?? classOf(llm) ?? 'model', model, provider });
    this.#addInput(id, () => inputOf(input));
    this.#keep(id, (keeper) => keeper.call(input, extra ?? {}, metadata ?? {}));
  };

  readonly handleLLMStart = this.handleChatModelStart;

  readonly handleLLMEnd = (output: unknown, id: string): void => {
    const contents = this.#takeContents(id, () => outputOf(output));
    this.#keep(id, (keeper) => keeper.answer(output));
    this.#recorder.succeed(this.#close(id), tokensOf(output), contents);
  };

  readonly handleLLMError = (error: unknown, id: string): void => {
    const contents = this.#takeContents(id, () => undefined);
    this.#recorder.fail(this.#close(id), error, contents);
  };

  readonly handleToolStart = (
    tool: unknown,
    input: unknown,
    id: string,
    parent_id?: string,
    _tags?: string[],
    metadata?: Record<string, unknown>,
    name?: string,
  ): void => {
    const called = name ?? firstText(isObject(tool) ? tool['name'] : undefined) ?? classOf(tool) ?? 'tool';
    this.#begin('tool', id, parent_id, metadata, { name: called, model: null, provider: null });
    this.#addInput(id, () => toolValueOf(input));
    this.#keep(id, (keeper) => keeper.input(input));
  };

  readonly handleToolEnd = (output: unknown, id: string): void => {
    const contents = this.#takeContents(id, () => toolValueOf(output));
    this.#keep(id, (keeper) => keeper.result(output));
    this.#recorder.succeed(this.#close(id), NO_TOKENS, contents);
  };

  readonly handleToolError = this.handleLLMError;

  readonly handleRetrieverStart = (
    retriever: unknown,
    query: unknown,
    id: string,
    parent_id?: string,
    _tags?: string[],
    metadata?: Record<string, unknown>,
    name?: string,
  ): void => {
    const called = name ?? classOf(retriever) ?? 'retriever';
    const provider = firstText(metadata?.['ls_vector_store_provider']);
    this.#begin('retriever', id, parent_id, metadata, { name: called, model: null, provider });
    this.#addInput(id, () => toolValueOf(query));
    this.#keep(id, (keeper) => keeper.input(query));
  };

  readonly handleRetrieverEnd = this.handleToolEnd;

  readonly handleRetrieverError = this.handleLLMError;

  /** Records only chains that LangGraph executes as a task, unless they are recorded already. */
  readonly handleChainStart = (
    _chain: unknown,
    inputs: unknown,
    id: string,
    parent_id?: string,
    _tags?: string[],
    metadata?: Record<string, unknown>,
    _runType?: string,
    name?: string,
  ): void => {
    if (name === undefined || name !== metadata?.['langgraph_node'] || name.startsWith('__')) return;
    if (this.#recorder.isInNode(placeOf(metadata).task_namespace)) return;
    this.#begin('node', id, parent_id, metadata, { name, model: null, provider: null });
    this.#keep(id, (keeper) => keeper.input(inputs));
  };

  readonly handleChainEnd = (outputs: unknown, id: string): void => {
    this.#keep(id, (keeper) => keeper.output(outputs));
    this.#recorder.succeed(this.#close(id));
  };

  readonly handleChainError = this.handleLLMError;

  #begin(
    kind: OpenStep['kind'],
    id: string,
    parent_id: string | undefined,
    metadata: unknown,
    called: { name: string; model: string | null; provider: string | null },
  ): void {
    // LangChain may merge a list of handlers with a manager of the same ones, and then calls each twice.
    if (this.#open.has(id)) return;
    const parent = parent_id === undefined ? undefined : this.#open.get(parent_id);
    const step = this.#recorder.begin({ kind, place: placeOf(metadata), parent, ...called });
    if (step) this.#open.set(id, step);
  }

  #keep(id: string, read: (keeper: ContentKeeper) => RecordedContents | undefined): void {
    this.#recorder.keep(this.#open.get(id), read);
  }

  #addInput(id: string, read: () => string | undefined): void {
    if (!this.#recorder.has_contents || !this.#open.has(id)) return;
    const input = tryOrUndefined(read);
    if (input !== undefined) this.#inputs.set(id, input);
  }

  #takeContents(id: string, readOutput: () => string | undefined): StepContents | undefined {
    if (!this.#recorder.has_contents || !this.#open.has(id)) return undefined;
    const input = this.#inputs.get(id);
    this.#inputs.delete(id);
    return contentsOf(input, tryOrUndefined(readOutput));
  }

  #close(id: string): OpenStep | undefined {
    const step = this.#open.get(id);
    this.#open.delete(id);
    return step;
  }
}

function firstText(...values: unknown[]): string | null {
  const text = values.find((value) => typeof value === 'string' && value !== '');
  return typeof text === 'string' ? text : null;
}

/** Last element of LangChain's serialised form: the name of a class. */
function classOf(serialized: unknown): string | undefined {
  const path = isObject(serialized) ? serialized['id'] : undefined;
  const name = Array.isArray(path) ? path.at(-1) : undefined;
  return typeof name === 'string' ? name : undefined;
}

/** LangChain's `LLMResult`: messages count their tokens; older models count them for all of their output. */
function tokensOf(output: unknown): TokenCounts {
  if (!isObject(output)) return NO_TOKENS;
  let sum: TokenCounts = NO_TOKENS;
  for (const generation of [output['generations']].flat(2)) {
    const message = isObject(generation) ? generation['message'] : undefined;
    const usage = isObject(message) ? message['usage_metadata'] : undefined;
    if (isObject(usage)) sum = added(sum, usage);
  }
  if (sum !== NO_TOKENS) return sum;
  const { tokenUsage, usage } = isObject(output['llmOutput']) ? output['llmOutput'] : {};
  const given = isObject(tokenUsage) ? tokenUsage : isObject(usage) ? usage : {};
  const tokens_in = count(given['promptTokens'] ?? given['input_tokens'] ?? given['prompt_tokens']);
  const tokens_out = count(given['completionTokens'] ?? given['output_tokens'] ?? given['completion_tokens']);
  return { tokens_in, tokens_cached: null, tokens_out };
}

function added(sum: TokenCounts, usage: Record<string, unknown>): TokenCounts {
  const details = isObject(usage['input_token_details']) ? usage['input_token_details'] : {};
  return addTokens(sum, {
    tokens_in: count(usage['input_tokens']),
    tokens_cached: count(details['cache_read']),
    tokens_out: count(usage['output_tokens']),
  });
}

/** More than this is no count of tokens, and would not fit into the database's `integer`. */
const MAX_TOKENS = 1e9;

function count(value: unknown): number | null {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? Math.min(value as number, MAX_TOKENS) : null;
}

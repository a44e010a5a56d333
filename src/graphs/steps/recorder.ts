import type { Clock } from '../../core/clock.ts';
import { publicFailure, tryOrUndefined } from '../../core/failure.ts';
import { isObject } from '../../core/json.ts';
import type { RecordedContents } from '../../schemas/step-contents.ts';
import type {
  CurrentStep,
  RecordedStep,
  RecordLevel,
  StepContents,
  StepStatus,
} from '../../schemas/steps.ts';
import { includesLevel } from '../../schemas/steps.ts';
import { ContentKeeper } from './content-keeper.ts';

/** Limit of an attempt: a graph that loops for days does not fill the memory or the database with steps. */
const MAX_STEPS = 20_000;
/**
 * Limit of the calls of the store in an attempt; further ones are not recorded. A node may write thousands of items, and
 * nodes and calls after it must not be lost for them.
 */
const MAX_STORE_CALLS = 1000;
/** Limit of the contents of calls that are not taken yet, characters; calls beyond it are recorded without. */
const MAX_CONTENTS = 8 * 1024 * 1024;
/** Longer names are cut, characters. */
const MAX_NAME = 256;

/** Properties of a step at its start. */
export type StepStart = Pick<RecordedStep, 'kind' | 'name' | 'model' | 'provider'> & {
  readonly place: StepPlace;
  /** The step that it is part of, if that is known better than by its place. */
  readonly parent?: OpenStep | undefined;
};

/** Tokens of a model's call. */
export type TokenCounts = Pick<RecordedStep, 'tokens_in' | 'tokens_cached' | 'tokens_out'>;

export const NO_TOKENS: TokenCounts = { tokens_in: null, tokens_cached: null, tokens_out: null };

interface RecorderOptions {
  /** Further ones are summed. */
  readonly max_steps?: number;
  readonly has_contents?: boolean;
}

/** A step that executes. */
export type OpenStep = Omit<
  RecordedStep,
  'ended_at' | 'status' | 'error' | 'contents' | 'recorded' | keyof TokenCounts
> & {
  /** Namespace of its task, which steps within it name. */
  readonly task_namespace: string;
  /** What is kept of it so far. */
  readonly parts: RecordedContents[];
};

/**
 * Records the steps of one attempt: nodes of the root graph and of subgraphs, and the calls of models, tools, retrievers
 * and the store in them (OBSERVABILITY §1). The checkpointer takes the ended ones with each write, so that they are stored
 * with the checkpoint that holds their result, in one transaction.
 */
export class StepRecorder {
  readonly level: Exclude<RecordLevel, 'off'>;
  /** Whether calls are recorded with what they were given and returned. */
  readonly has_contents: boolean;
  /** With the level `contents`. */
  readonly #keeper: ContentKeeper | undefined;
  readonly #clock: Clock;
  readonly #max_steps: number;
  readonly #open = new Set<OpenStep>();
  /** The node that executes in a task, by the namespace of the task. */
  readonly #nodes = new Map<string, OpenStep>();
  #ended: RecordedStep[] = [];
  /** Calls of the store after which no other step began: the next call may continue them. */
  readonly #resting = new Map<OpenStep, RecordedStep>();
  /** Sums of the calls of models beyond the limit that have ended. */
  readonly #sums = new Map<string, RecordedStep>();
  /** Characters of contents since the last `take`. */
  #contents = 0;
  #last = 0;
  #store_calls = 0;
  #isClosed = false;

  constructor(
    level: Exclude<RecordLevel, 'off'>,
    clock: Clock,
    { max_steps = MAX_STEPS, has_contents = false }: RecorderOptions = {},
  ) {
    this.level = level;
    this.has_contents = has_contents;
    this.#keeper = includesLevel(level, 'contents') ? new ContentKeeper() : undefined;
    this.#clock = clock;
    this.#max_steps = max_steps;
  }

  /** `undefined` after the end of the attempt, and beyond the limits, except for calls of models: they cost money. */
  begin({ kind, name, model, provider, place, parent }: StepStart): OpenStep | undefined {
    if (this.#isClosed) return undefined;
    if (kind !== 'store') this.#endResting();
    else if (++this.#store_calls > MAX_STORE_CALLS) return undefined;
    this.#last += 1;
    if (this.#last > this.#max_steps && kind !== 'model') return undefined;
    const within = parent ?? this.#nodes.get(kind === 'node' ? place.namespace : place.task_namespace);
    const step: OpenStep = {
      number: this.#last,
      parent: within?.number ?? null,
      kind,
      name: name.slice(0, MAX_NAME),
      model: model?.slice(0, MAX_NAME) ?? null,
      provider: provider?.slice(0, MAX_NAME) ?? null,
      ...place,
      started_at: this.#clock.now(),
      parts: [],
    };
    this.#open.add(step);
    if (kind === 'node') this.#nodes.set(place.task_namespace, step);
    return step;
  }

  /** Whether what calls were given and returned is stored. */
  get keeps_contents(): boolean {
    return this.#keeper !== undefined;
  }

  /** Notes what the step was given or has returned, if that is kept. */
  keep(step: OpenStep | undefined, read: (keeper: ContentKeeper) => RecordedContents | undefined): void {
    const keeper = this.#keeper;
    if (!keeper || !step || !this.#open.has(step)) return;
    try {
      const part = read(keeper);
      if (part) step.parts.push(part);
    } catch {
      // Getters of user code may throw.
      keeper.abandon();
    }
  }

  /** A call of the store continues. False if it is taken already, or another step but one of the store began since. */
  continue(step: OpenStep | undefined): boolean {
    if (this.#isClosed || !step || !this.#resting.delete(step)) return false;
    this.#open.add(step);
    return true;
  }

  /** Whether a node executes in the task. */
  isInNode(task_namespace: string): boolean {
    return this.#nodes.has(task_namespace);
  }

  succeed(
    step: OpenStep | undefined,
    tokens: TokenCounts = NO_TOKENS,
    contents?: StepContents | undefined,
  ): void {
    this.#end(step, 'success', null, tokens, contents);
  }

  /** `thrown`: by the step; interrupts and jumps to a parent graph are thrown too. */
  fail(step: OpenStep | undefined, thrown: unknown, contents?: StepContents | undefined): void {
    const status = statusOf(thrown);
    if (status === 'error') this.keep(step, (keeper) => keeper.failure(thrown));
    this.#end(step, status, status === 'error' ? publicFailure(thrown) : null, NO_TOKENS, contents);
  }

  /** Ended steps that are not taken yet, and sums of the calls beyond the limit. */
  take(): readonly RecordedStep[] {
    this.#endResting();
    const ended = this.#sums.size > 0 ? [...this.#ended, ...this.#sums.values()] : this.#ended;
    if (ended.length > 0) this.#ended = [];
    this.#sums.clear();
    this.#contents = 0;
    this.#keeper?.taken();
    return ended;
  }

  /** Steps that are not taken yet, and those that execute; by number. None is beyond the limit. */
  current(): CurrentStep[] {
    const visible = [...this.#open].filter(({ number }) => number <= this.#max_steps);
    const open = visible.map(({ task_namespace: _place, parts: _input, ...step }): CurrentStep => {
      return { ...step, ended_at: null, status: 'running', error: null, ...NO_TOKENS };
    });
    const taken = [...this.#ended, ...this.#resting.values()];
    const ended = taken.map(({ contents: _sent, recorded: _values, ...step }) => step);
    return [...ended, ...open].sort((one, other) => one.number - other.number);
  }

  /** The attempt has ended: what still executes is cancelled. */
  close(): void {
    for (const step of this.#open) this.#end(step, 'cancelled', null, NO_TOKENS);
    this.#isClosed = true;
  }

  #end(
    step: OpenStep | undefined,
    status: StepStatus,
    error: RecordedStep['error'],
    tokens: TokenCounts,
    contents?: StepContents | undefined,
  ): void {
    if (!step || !this.#open.delete(step)) return;
    const { task_namespace, parts, ...begun } = step;
    if (this.#nodes.get(task_namespace) === step) this.#nodes.delete(task_namespace);
    const ended_at = Math.max(step.started_at, this.#clock.now());
    const ended = { ...begun, ended_at, status, error, ...tokens };
    if (step.number > this.#max_steps) {
      this.#keeper?.drop(parts);
      this.#addToSums(ended);
      return;
    }
    const recorded = this.#keeper?.end(parts);
    this.#contents += (contents?.input?.length ?? 0) + (contents?.output?.length ?? 0);
    const known = {
      ...ended,
      ...(contents && this.#contents <= MAX_CONTENTS && { contents }),
      ...(recorded && { recorded }),
    };
    if (step.kind === 'store' && status === 'success') this.#resting.set(step, known);
    else this.#ended.push(known);
  }

  #endResting(): void {
    if (this.#resting.size === 0) return;
    this.#ended.push(...this.#resting.values());
    this.#resting.clear();
  }

  /** One for each model and day. Calls without tokens have a sum of their own: they have no cost. */
  #addToSums(call: RecordedStep): void {
    const { model, ended_at, tokens_in, tokens_out } = call;
    const isCounted = tokens_in !== null || tokens_out !== null;
    const key = JSON.stringify([model, Math.floor(ended_at / DAY_MS), isCounted]);
    const sum = this.#sums.get(key);
    const tokens = sum ? addTokens(sum, call) : undefined;
    this.#sums.set(key, { ...call, ...tokens, calls: (sum?.calls ?? 0) + 1 });
  }
}

const DAY_MS = 86_400_000;

/** Sums of two calls; null where neither is known. */
export function addTokens(one: TokenCounts, other: TokenCounts): TokenCounts {
  return {
    tokens_in: plus(one.tokens_in, other.tokens_in),
    tokens_cached: plus(one.tokens_cached, other.tokens_cached),
    tokens_out: plus(one.tokens_out, other.tokens_out),
  };
}

function plus(one: number | null, other: number | null): number | null {
  return one === null ? other : one + (other ?? 0);
}

/** LangGraph's control-flow exceptions (`is_bubble_up` of its GraphBubbleUp) are not errors. */
function statusOf(thrown: unknown): StepStatus {
  const name = tryOrUndefined(() => (isObject(thrown) && thrown.is_bubble_up === true ? thrown.name : false));
  if (name === undefined || name === false) return isAbort(thrown) ? 'cancelled' : 'error';
  return name === 'ParentCommand' ? 'success' : 'interrupted';
}

function isAbort(thrown: unknown): boolean {
  return tryOrUndefined(() => isObject(thrown) && thrown.name === 'AbortError') ?? false;
}

/** Where a step executes. */
export type StepPlace = Pick<
  RecordedStep,
  'node' | 'namespace' | 'task_id' | 'superstep' | 'checkpoint_id'
> & { readonly task_namespace: string };

/** Reads it from the metadata that LangGraph gives to the configuration of each task. */
export function placeOf(metadata: unknown, executionInfo?: unknown): StepPlace {
  const given = isObject(metadata) ? metadata : {};
  const { langgraph_node, langgraph_step, langgraph_checkpoint_ns } = given;
  const task_namespace = typeof langgraph_checkpoint_ns === 'string' ? langgraph_checkpoint_ns : '';
  const end = task_namespace.lastIndexOf('|');
  const task = task_namespace.slice(end + 1);
  const checkpoint_id = isObject(executionInfo) ? executionInfo['checkpointId'] : undefined;
  return {
    node: typeof langgraph_node === 'string' ? langgraph_node.slice(0, MAX_NAME) : null,
    namespace: end < 0 ? '' : task_namespace.slice(0, end),
    task_id: task.includes(':') ? task.slice(task.lastIndexOf(':') + 1) : null,
    superstep: Number.isSafeInteger(langgraph_step) ? (langgraph_step as number) : null,
    checkpoint_id: typeof checkpoint_id === 'string' ? checkpoint_id : null,
    task_namespace,
  };
}

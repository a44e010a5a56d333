import type { Actor } from '../../auth/actor.ts';
import { authorize } from '../../auth/authorize.ts';
import { isEmptyMap, isServerInterrupt, namesInterrupts } from '../../core/interrupt-ids.ts';
import { timeoutSignal } from '../../core/timers.ts';
import type { Command } from '../../schemas/command.ts';
import type { Params } from '../../schemas/event-streaming.ts';
import type { JsonObject } from '../../schemas/fields.ts';
import { MultitaskStrategy, type Run, type RunCreate } from '../../schemas/runs.ts';
import type { Thread } from '../../schemas/threads.ts';
import type { RunQueue } from '../../storage/queue/queue.ts';
import type { RunRepository } from '../../storage/runs/runs.ts';
import type { ThreadRepository } from '../../storage/threads/threads.ts';
import type { IdempotencyContext } from '../idempotency.ts';
import type { RunService } from '../runs/runs.ts';
import { interruptIds } from '../runs/transitions.ts';
import { CommandError, notFoundAs } from './command-errors.ts';

export interface RunCommandDeps {
  readonly runs: RunService;
  readonly runRows: RunRepository;
  readonly threads: ThreadRepository;
  readonly queue: Pick<RunQueue, 'ofThread'>;
}

/** How long an answer waits for the interrupted run to release its thread, ms. */
const IDLE_TIMEOUT_MS = 10_000;

/** The log stores every stream mode; subscribers filter. */
const ALL_STREAM_MODES: RunCreate['stream_mode'] = [
  'values',
  'updates',
  'messages',
  'tools',
  'lifecycle',
  'custom',
  'tasks',
  'checkpoints',
];

const ROOT_ONLY = 'A message can only be injected into the root graph: send an empty namespace.';

/** Commands that create a run (contract §7). A retry with the same idempotency key creates none. */
export function runCommands(deps: RunCommandDeps) {
  const read = reader(deps);
  const start = starter(deps);

  return {
    /**
     * On an interrupted thread the input is the answer, unless the run starts from a given checkpoint. So is an input
     * that names interrupts: another client may have answered first.
     */
    async start(
      actor: Actor,
      thread_id: string,
      params: Params<'run.start'>,
      idempotency?: IdempotencyContext,
    ) {
      const { assistant_id, input, config, metadata } = params;
      const strategy = MultitaskStrategy.safeParse(params.multitaskStrategy ?? params.multitask_strategy);
      const isFork = config?.configurable && 'checkpoint_id' in config.configurable;
      const thread =
        input === null || input === undefined || isFork ? undefined : await read(actor, thread_id);
      const known = pendingInterruptIds(thread);
      const isAnswer = known.length > 0 || (!isFork && namesInterrupts(input));
      const what = isAnswer ? answering(known, input) : { input };
      const run = { assistant_id, ...what, config, metadata, multitask_strategy: strategy.data };
      const { run_id } = await start(actor, thread_id, run, idempotency);
      return { run_id };
    },

    /** Resumes the graph with the answers to one or more interrupts. */
    async respond(
      actor: Actor,
      thread_id: string,
      params: Params<'input.respond'>,
      idempotency?: IdempotencyContext,
    ) {
      const { update, goto, config, metadata, strict_resume } = params;
      const resume = answersOf(params);
      if (idempotency?.run) return {};
      await untilThreadIdle(deps, actor, thread_id);
      const thread = await read(actor, thread_id);
      const assistant_id = assistantOf(thread);
      const known = pendingInterruptIds(thread);
      const unknown = Object.keys(resume).find((id) => !known.includes(id));
      // The SDK expects a run that fails with the refusal. An id of another form would be taken for a part of the answer.
      const mayFail = isChecked(known) && strict_resume === true && namesInterrupts(resume);
      if (unknown !== undefined && !mayFail) throw unknownInterrupt(unknown);
      const command = { resume, update, goto } as Command;
      const run = { assistant_id, command, config, metadata, strict_resume: isChecked(known) };
      return start(actor, thread_id, run, idempotency).then(() => ({}));
    },

    /** Enqueues a message as the graph's next input, after the run in flight. */
    async inject(
      actor: Actor,
      thread_id: string,
      { namespace = [], message }: Params<'input.inject'>,
      idempotency?: IdempotencyContext,
    ) {
      if (namespace.length > 0) throw new CommandError('not_supported', ROOT_ONLY);
      const assistant_id = assistantOf(await read(actor, thread_id));
      await start(actor, thread_id, { assistant_id, input: { messages: [message] } }, idempotency);
      return {};
    },

    async fork(
      actor: Actor,
      thread_id: string,
      params: Params<'state.fork'>,
      idempotency?: IdempotencyContext,
    ) {
      const { checkpoint_id, input, config } = params;
      const assistant_id = assistantOf(await read(actor, thread_id));
      const configurable = { ...(config?.['configurable'] as JsonObject), checkpoint_id };
      const forked = { assistant_id, input, config: { ...config, configurable } };
      const { run_id } = await start(actor, thread_id, forked, idempotency);
      return { run_id, thread_id };
    },
  };
}

/** Strict, and by the id of the only question: another client may answer first, and the graph may ask another one. */
function answering(known: readonly string[], answer: unknown) {
  const isPlain = !namesInterrupts(answer) && !isEmptyMap(answer);
  const [only, ...others] = isChecked(known) && isPlain ? known : [];
  const resume = only !== undefined && others.length === 0 ? { [only]: answer } : answer;
  return { command: { resume } as Command, strict_resume: isChecked(known) };
}

/** The graph does not check the answer to a question of the server. */
function isChecked(known: readonly string[]): boolean {
  return !known.some(isServerInterrupt);
}

/** Returns `undefined` for a missing thread and for one hidden from the actor. */
function reader({ threads }: RunCommandDeps) {
  return async (actor: Actor, thread_id: string): Promise<Thread | undefined> =>
    threads.get(thread_id, undefined, await authorize(actor, 'threads:read', { thread_id }));
}

type StartRun = (
  actor: Actor,
  thread_id: string,
  input: Partial<RunCreate> & { assistant_id: string },
  idempotency: IdempotencyContext | undefined,
) => Promise<Run>;

/** Creates a run with all stream modes, and its thread if it does not exist. */
function starter({ runs }: RunCommandDeps): StartRun {
  return (actor, thread_id, input, idempotency) => {
    const { checkpoint_id, ...configurable } = (input.config?.configurable ?? {}) as JsonObject;
    const run: RunCreate = {
      ...input,
      ...(typeof checkpoint_id === 'string' ? { checkpoint_id } : {}),
      config: { ...input.config, configurable },
      stream_mode: ALL_STREAM_MODES,
      stream_subgraphs: true,
      stream_resumable: true,
      if_not_exists: 'create',
    };
    const create = () => runs.create(actor, thread_id, run, 'events', idempotency);
    return checkpoint_id === undefined ? create() : notFoundAs('no_such_checkpoint', create);
  };
}

function unknownInterrupt(id: string): CommandError {
  return new CommandError('no_such_interrupt', `Unknown or already-consumed interrupt: ${id}`);
}

/** The assistant that ran last on the thread. */
function assistantOf(thread: Thread | undefined): string {
  const id = thread?.metadata['assistant_id'] ?? thread?.metadata['graph_id'];
  if (typeof id === 'string') return id;
  throw new CommandError('no_such_run', 'Nothing has run on this thread yet; call run.start first.');
}

/** Ids of the pending interrupts. */
function pendingInterruptIds(thread: Thread | undefined): string[] {
  return thread?.status === 'interrupted' ? (interruptIds(thread.interrupts) as string[]) : [];
}

function answersOf({ interrupt_id, response, responses }: Params<'input.respond'>): JsonObject {
  if (responses) return Object.fromEntries(responses.map((each) => [each.interrupt_id, each.response]));
  if (interrupt_id !== undefined) return { [interrupt_id]: response };
  throw new CommandError(
    'invalid_argument',
    'input.respond requires an interrupt_id, or a list of responses.',
  );
}

/** A client may answer as soon as it receives the interrupt, before the interrupted run has ended. */
async function untilThreadIdle(
  { runs, runRows, queue }: RunCommandDeps,
  actor: Actor,
  thread_id: string,
): Promise<void> {
  const visibility = await authorize(actor, 'threads:read', { thread_id });
  const signal = timeoutSignal(IDLE_TIMEOUT_MS);
  let followed: string | undefined;
  while (!signal.aborted) {
    // In the order in which they go: a run for later comes last, and its end is not waited for.
    const [first] = (await queue.ofThread(thread_id, 1)).runs;
    if (!first || first.state === 'scheduled' || first.run_id === followed) return;
    const run = await runRows.get(thread_id, first.run_id, visibility);
    if (!run) return;
    followed = run.run_id;
    for await (const _ of runs.follow(run, signal));
  }
}

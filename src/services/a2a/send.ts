import { Message, type SendMessageRequest } from '@a2a-js/sdk';
import { RequestMalformedError, TaskNotFoundError, UnsupportedOperationError } from '@a2a-js/sdk/errors';
import type { Actor } from '../../auth/actor.ts';
import { unlessGone } from '../../core/errors.ts';
import type { Ids } from '../../core/ids.ts';
import type { EventBus } from '../../events/bus.ts';
import type { Run, RunCreate } from '../../schemas/runs.ts';
import type { NewPushConfig } from '../../storage/a2a/push-configs.ts';
import type { A2aTaskRepository, A2aTaskRow } from '../../storage/a2a/tasks.ts';
import type { NewTurn } from '../../storage/a2a/turns.ts';
import { messagesIn } from '../messages.ts';
import type { RunService } from '../runs.ts';
import { threadOfName } from '../thread-alias.ts';
import type { ThreadService } from '../threads.ts';
import type { FactsOf } from './assistant-facts.ts';
import { answerOf, checkMediaTypes, inputOf, runOptionsOf } from './input.ts';
import type { A2aPush } from './push.ts';
import { interruptsOf, isTerminal, stateOf, WAITING } from './task-view.ts';
import { type A2aTasks, isInContext } from './tasks.ts';

export interface A2aSendDeps {
  readonly tasks: A2aTaskRepository;
  readonly runs: Pick<RunService, 'create'>;
  readonly threads: Pick<ThreadService, 'get'>;
  readonly factsOf: FactsOf;
  readonly ids: Ids;
  readonly checkedPush: A2aPush['checked'];
  readonly bus: Pick<EventBus, 'hint'>;
}

const MAX_CONTEXT_ID = 255;

/** What every run of a task has: events that can be read again by who comes back. */
const OF_TASKS = {
  stream_mode: ['messages-tuple', 'custom'],
  stream_resumable: true,
} satisfies Partial<RunCreate>;

export type A2aSend = ReturnType<typeof a2aSend>;

/** A message becomes a run: of a new task, or of the one that it names. */
export function a2aSend(deps: A2aSendDeps, of: A2aTasks) {
  /** The task as it is then: its run is in the queue. */
  async function begin(actor: Actor, assistant_id: string, request: SendMessageRequest): Promise<A2aTaskRow> {
    const message = checked(request.message);
    const subscriber = request.configuration?.taskPushNotificationConfig;
    const push = subscriber && deps.checkedPush(subscriber, versionOf(actor));
    return message.taskId === ''
      ? beginTask(actor, assistant_id, message, push)
      : continueTask(actor, assistant_id, message, push);
  }

  async function beginTask(
    actor: Actor,
    id: string,
    message: Message,
    push: NewPushConfig | undefined,
  ): Promise<A2aTaskRow> {
    const { contextId } = message;
    const facts = await deps.factsOf(actor, id);
    checkMediaTypes(message, facts);
    const input = inputOf(message, facts);
    const thread_id = contextId === '' ? deps.ids.uuid7() : threadOfName(actor, contextId);
    const context_id = contextId === '' ? thread_id : contextId;
    const thread = contextId === '' ? undefined : await deps.threads.get(actor, thread_id).catch(unlessGone);
    const gives_up = thread ? await of.givenUp(actor, thread_id) : [];
    const { assistant_id } = facts.assistant;
    const asked = { assistant_id, input, if_not_exists: 'create' as const };
    const position = messagesIn(thread?.values).length;
    const task = { is_new: true as const, context_id };
    const run = await create(deps, actor, thread_id, asked, { task, message, position, push, gives_up });
    for (const settlement of gives_up) of.announce(settlement);
    return stored(run.run_id);
  }

  async function continueTask(
    actor: Actor,
    id: string,
    message: Message,
    push: NewPushConfig | undefined,
  ): Promise<A2aTaskRow> {
    const facts = await deps.factsOf(actor, id);
    const { assistant_id } = facts.assistant;
    const row = await of.find(actor, assistant_id, message.taskId);
    const { task_id, thread_id } = row;
    if (message.contextId !== '' && !isInContext(actor, row, message.contextId)) {
      throw new RequestMalformedError(`Task ${task_id} does not belong to context ${message.contextId}.`);
    }
    if (isTerminal(stateOf(row))) {
      throw new UnsupportedOperationError(
        `Task ${task_id} has ended (${row.state}) and accepts no more messages.`,
      );
    }
    checkMediaTypes(message, facts);
    const { state } = await of.factsFor(actor, row);
    const waits = WAITING.includes(stateOf(row));
    const turned = waits
      ? { command: { resume: answerOf(message, interruptsOf(state)) } }
      : { input: inputOf(message, facts) };
    const position = messagesIn(state?.values).length;
    const task = { is_new: false as const, task_id, answers: waits ? row.run_id : undefined };
    await create(deps, actor, thread_id, { assistant_id, ...turned }, { task, message, position, push });
    deps.bus.hint(task_id);
    return stored(task_id);
  }

  async function stored(task_id: string): Promise<A2aTaskRow> {
    const row = await deps.tasks.get(task_id);
    if (!row) throw new TaskNotFoundError(`Task not found: ${task_id}`);
    return row;
  }

  return { begin };
}

/** Puts the run of a message into the queue, and the message with it. */
function create(
  { runs }: Pick<A2aSendDeps, 'runs'>,
  actor: Actor,
  thread_id: string,
  asked: RunCreate,
  { message, ...turn }: NewTurn & { message: Message },
): Promise<Run> {
  const protocol = { name: 'a2a', version: '1.0', ...actor.protocol, message_id: message.messageId };
  const made = { ...OF_TASKS, ...runOptionsOf(message), ...asked };
  const kept = { ...turn, message: Message.toJSON(message) };
  return runs.create({ ...actor, protocol }, thread_id, made, 'stream', undefined, kept);
}

/** Whose words the caller speaks. */
function versionOf({ protocol }: Actor): '0.3' | '1.0' {
  return protocol?.version === '0.3' ? '0.3' : '1.0';
}

function checked(message: Message | undefined): Message {
  if (!message) throw new RequestMalformedError('message is missing.');
  if (message.messageId.trim() === '') throw new RequestMalformedError('message.messageId is missing.');
  if (message.contextId.length > MAX_CONTEXT_ID)
    throw new RequestMalformedError(`contextId must have at most ${MAX_CONTEXT_ID} characters.`);
  if (message.contextId !== '' && message.contextId.trim() === '')
    throw new RequestMalformedError('contextId must not be blank.');
  if (message.parts.length === 0 || message.parts.some(({ content }) => content === undefined))
    throw new RequestMalformedError(
      'message.parts needs at least one part, each with text, raw, url or data.',
    );
  return message;
}

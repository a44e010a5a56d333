import { Message, type SendMessageRequest } from '@a2a-js/sdk';
import { RequestMalformedError, TaskNotFoundError, UnsupportedOperationError } from '@a2a-js/sdk/errors';
import type { Actor } from '../../auth/actor.ts';
import { undefinedIfNotFound } from '../../core/errors.ts';
import type { Run, RunCreate } from '../../schemas/runs.ts';
import { stateMessages } from '../../services/conversation/messages.ts';
import { threadIdFromName } from '../../services/threads/threads.ts';
import type { A2aContext } from './context.ts';
import { checkMediaTypes, inputOf, resumeValue, runOptionsOf } from './input.ts';
import type { A2aPush } from './push-configs.ts';
import { stateNameOf } from './state-names.ts';
import type { NewPushConfig } from './storage/push-configs.ts';
import type { A2aTaskRepository, A2aTaskRow } from './storage/tasks.ts';
import type { ContinuedTask, NewTurn } from './storage/turns.ts';
import { INTERRUPTED_STATES, isTerminal, stateOf } from './task-view.ts';
import { type A2aTasks, isInContext } from './tasks.ts';

const MAX_CONTEXT_ID = 255;

/** Task runs stream resumably, so that a reconnecting client can replay their events. */
const TASK_RUN_OPTIONS = {
  stream_mode: ['messages-tuple', 'custom'],
  stream_resumable: true,
} satisfies Partial<RunCreate>;

/** Each message starts a run, of a new task or of the task that it names. */
export function a2aSend(context: A2aContext, taskService: A2aTasks, checkedPush: A2aPush['checked']) {
  const { tasks, services, ids, bus, cardDataOf } = context;

  /** Enqueues the run and returns the task row. */
  async function start(actor: Actor, assistant_id: string, request: SendMessageRequest): Promise<A2aTaskRow> {
    const message = checked(request.message);
    const subscriber = request.configuration?.taskPushNotificationConfig;
    const push = subscriber && checkedPush(subscriber, versionOf(actor));
    return message.taskId === ''
      ? startTask(actor, assistant_id, message, push)
      : continueTask(actor, assistant_id, message, push);
  }

  async function startTask(
    actor: Actor,
    id: string,
    message: Message,
    push: NewPushConfig | undefined,
  ): Promise<A2aTaskRow> {
    const { contextId } = message;
    const card = await cardDataOf(actor, id);
    checkMediaTypes(message, card);
    const input = inputOf(message, card);
    const thread_id = contextId === '' ? ids.uuid7() : threadIdFromName(actor, contextId);
    const context_id = contextId === '' ? thread_id : contextId;
    const thread =
      contextId === '' ? undefined : await services.threads.get(actor, thread_id).catch(undefinedIfNotFound);
    const abandoned = thread ? await taskService.unansweredTasks(actor, thread_id) : [];
    const { assistant_id } = card.assistant;
    const asked = { assistant_id, input, if_not_exists: 'create' as const };
    const position = stateMessages(thread?.values).length;
    const task = { is_new: true as const, context_id };
    const turn = { task, message, position, push, abandoned };
    const run = await create(services, actor, thread_id, asked, turn);
    for (const task_row of abandoned) taskService.notify(task_row);
    return stored(tasks, run.run_id);
  }

  async function continueTask(
    actor: Actor,
    id: string,
    message: Message,
    push: NewPushConfig | undefined,
  ): Promise<A2aTaskRow> {
    const card = await cardDataOf(actor, id);
    const { assistant_id } = card.assistant;
    const row = await taskService.find(actor, assistant_id, message.taskId);
    const { task_id, thread_id } = row;
    if (message.contextId !== '' && !isInContext(actor, row, message.contextId)) {
      throw new RequestMalformedError(`Task ${task_id} does not belong to context ${message.contextId}.`);
    }
    if (isTerminal(stateOf(row))) {
      throw new UnsupportedOperationError(
        `Task ${task_id} has ended (${stateNameOf(row)}) and accepts no more messages.`,
      );
    }
    checkMediaTypes(message, card);
    const { state, interrupts } = await taskService.taskContext(actor, row);
    const answers = questionOf(row);
    const turned = answers
      ? { command: { resume: resumeValue(message, interrupts) } }
      : { input: inputOf(message, card) };
    const position = stateMessages(state?.values).length;
    const task = { is_new: false as const, task_id, answers };
    await create(services, actor, thread_id, { assistant_id, ...turned }, { task, message, position, push });
    bus.updated(task_id);
    return stored(tasks, task_id);
  }

  return { start };
}

/** The interrupted run and state that the message answers; `undefined` if the task is not interrupted. */
function questionOf(row: A2aTaskRow): ContinuedTask['answers'] {
  const { run_id, state } = row;
  return state !== null && INTERRUPTED_STATES.includes(stateOf(row)) ? { run_id, state } : undefined;
}

async function stored(tasks: A2aTaskRepository, task_id: string): Promise<A2aTaskRow> {
  const row = await tasks.get(task_id);
  if (!row) throw new TaskNotFoundError(`Task not found: ${task_id}`);
  return row;
}

/** Enqueues the run of a message and stores the message with it. */
function create(
  { runs }: A2aContext['services'],
  actor: Actor,
  thread_id: string,
  asked: RunCreate,
  { message, ...turn }: NewTurn & { message: Message },
): Promise<Run> {
  const protocol = { name: 'a2a', version: '1.0', ...actor.protocol, message_id: message.messageId };
  const input = { ...TASK_RUN_OPTIONS, ...runOptionsOf(message), ...asked };
  const turnToStore = { ...turn, message: Message.toJSON(message) };
  return runs.create({ ...actor, protocol }, thread_id, input, 'stream', undefined, { a2a: turnToStore });
}

/** Protocol version of the caller. */
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

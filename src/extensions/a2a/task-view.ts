import { Artifact, Message, Role, type Task, TaskState, taskStateFromJSON } from '@a2a-js/sdk';
import { isObject, type JsonObject } from '../../core/json.ts';
import type { ThreadState } from '../../schemas/thread-state.ts';
import type { Interrupt } from '../../schemas/threads.ts';
import { interruptText } from '../../services/conversation/human-in-the-loop.ts';
import { isAiMessage, type StateMessage, stateMessages } from '../../services/conversation/messages.ts';
import { runErrorMessage } from '../../services/runs/run-result.ts';
import { dataPart, partsOf, textPart } from './parts.ts';
import { INTERRUPTED_STATE_NAMES, stateNameOf } from './state-names.ts';
import type { A2aTaskRow } from './storage/tasks.ts';
import type { A2aTurn } from './storage/turns.ts';

/** A task's row, turns and thread state. */
export interface TaskContext {
  readonly row: A2aTaskRow;
  readonly turns: readonly A2aTurn[];
  /** Thread state after the last of its runs that wrote a checkpoint. */
  readonly state: ThreadState | undefined;
  /** Pending interrupts. */
  readonly interrupts: readonly Interrupt[];
  /** The `a2a` output that this task's runs wrote; excludes what an earlier task left in the state. */
  readonly agent_output: JsonObject;
  /** Output fields other than `messages`. */
  readonly outputs: readonly string[];
}

export const INTERRUPTED_STATES: readonly TaskState[] = INTERRUPTED_STATE_NAMES.map(taskStateFromJSON);

export function isTerminal(state: TaskState): boolean {
  return [
    TaskState.TASK_STATE_COMPLETED,
    TaskState.TASK_STATE_CANCELED,
    TaskState.TASK_STATE_FAILED,
    TaskState.TASK_STATE_REJECTED,
  ].includes(state);
}

/** Terminal or interrupted: nothing changes until the client acts. */
export function isStopped(state: TaskState): boolean {
  return isTerminal(state) || INTERRUPTED_STATES.includes(state);
}

export function stateOf(row: Pick<A2aTaskRow, 'state' | 'run_status'>): TaskState {
  return taskStateFromJSON(stateNameOf(row));
}

/** The graph's own A2A output: the `a2a` key of its values. */
export function agentOutputOf(state: ThreadState | undefined): JsonObject {
  const values = isObject(state?.values) ? state.values : {};
  return isObject(values['a2a']) ? values['a2a'] : {};
}

/** The current task with full history and artifacts. `scope`: history of the task, or of its context. */
export function taskOf(context: TaskContext, scope: 'task' | 'context'): Task {
  const { row } = context;
  return {
    id: row.task_id,
    contextId: row.context_id,
    status: { state: stateOf(row), message: statusMessageOf(context), timestamp: row.at },
    artifacts: artifactsOf(context),
    history: historyOf(context, scope),
    metadata: undefined,
  };
}

/** The task as submitted with its current run's message, even if that run has ended since. */
export function submittedTaskOf(context: TaskContext, scope: 'task' | 'context'): Task {
  const { row, turns } = context;
  const history = historyOf(context, scope);
  const currentTurn = turns.find(({ run_id }) => run_id === row.run_id);
  const last = history.findLastIndex(({ messageId }) => messageId === messageIdOf(currentTurn?.message));
  return {
    id: row.task_id,
    contextId: row.context_id,
    status: { state: TaskState.TASK_STATE_SUBMITTED, message: undefined, timestamp: row.at },
    artifacts: [],
    history: last < 0 ? history : history.slice(0, last + 1),
    metadata: undefined,
  };
}

/** The graph's direct `Message` reply in place of a task, if it gives one. */
export function directAnswerOf({ row, agent_output: { message } }: TaskContext): Message | undefined {
  if (message === undefined || stateOf(row) !== TaskState.TASK_STATE_COMPLETED) return undefined;
  const parts = isObject(message) ? Message.fromJSON({ parts: message['parts'] }).parts : partsOf(message);
  return agentMessage(row, `${row.run_id}-answer`, parts);
}

export function agentMessage(
  { task_id, context_id }: Pick<A2aTaskRow, 'task_id' | 'context_id'>,
  messageId: string,
  parts: Message['parts'],
): Message {
  return {
    messageId,
    contextId: context_id,
    taskId: task_id,
    role: Role.ROLE_AGENT,
    parts,
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
}

function statusMessageOf(context: TaskContext): Message | undefined {
  const { row, interrupts } = context;
  const message = (parts: Message['parts']) => agentMessage(row, `${row.run_id}-status`, parts);
  const current = stateOf(row);
  if (INTERRUPTED_STATES.includes(current)) return message(interruptParts(interrupts));
  if (current === TaskState.TASK_STATE_FAILED) return message([textPart(runErrorMessage(row.error))]);
  if (row.reason !== null) return message([textPart(row.reason)]);
  return directAnswerOf(context);
}

function interruptParts(interrupts: readonly Interrupt[]) {
  if (interrupts.length === 0) return [textPart('Paused at a breakpoint. Any message resumes it.')];
  const asked = interrupts.map(({ id, value, response_schema }) => ({ id, value, response_schema }));
  return [...interrupts.map(({ value }) => textPart(interruptText(value))), dataPart({ interrupts: asked })];
}

/** Artifacts for everything the task added to its thread. */
function artifactsOf(context: TaskContext): Artifact[] {
  const { row, state, interrupts, agent_output: agentOutput } = context;
  const eventArtifacts = row.artifacts.map((artifact) => Artifact.fromJSON(artifact));
  const interruptArtifacts = INTERRUPTED_STATES.includes(stateOf(row))
    ? interrupts.map(interruptArtifact)
    : [];
  if (!state || stateOf(row) === TaskState.TASK_STATE_REJECTED || directAnswerOf(context))
    return eventArtifacts;
  const own = agentOutput['artifacts'];
  if (Array.isArray(own))
    return [...eventArtifacts, ...own.map((each, i) => ownArtifact(row, each, i)), ...interruptArtifacts];
  return [...eventArtifacts, ...answersOf(context), ...outputOf(context), ...interruptArtifacts];
}

/** One artifact per AI message. */
function answersOf({ row, turns, state }: TaskContext): Artifact[] {
  const messages = stateMessages(state?.values);
  return messages.slice(taskStart(turns, messages)).flatMap((message, i) => {
    const parts = isAiMessage(message) ? partsOf(message.content) : [];
    return parts.length === 0 ? [] : [answerArtifact(messageIdOf(message) ?? `${row.task_id}-${i}`, parts)];
  });
}

export function answerArtifact(artifactId: string, parts: Artifact['parts']): Artifact {
  return {
    ...artifact(artifactId, 'Assistant Response', parts),
    description: 'What the assistant answered.',
  };
}

function outputOf({ row, state, outputs }: TaskContext): Artifact[] {
  const values = isObject(state?.values) ? state.values : {};
  const given = outputs.filter((name) => values[name] !== undefined && values[name] !== null);
  if (given.length === 0 || stateOf(row) !== TaskState.TASK_STATE_COMPLETED) return [];
  const output = Object.fromEntries(given.map((name) => [name, values[name]]));
  return [artifact(`${row.task_id}-output`, 'Output', [dataPart(output)])];
}

function interruptArtifact({ id, value }: Interrupt): Artifact {
  return artifact(`interrupt-${id}`, 'Interrupt', [dataPart({ id, value })]);
}

function ownArtifact({ task_id }: A2aTaskRow, given: unknown, i: number): Artifact {
  const made = Artifact.fromJSON(isObject(given) ? given : {});
  return made.artifactId === '' ? { ...made, artifactId: `${task_id}-${i}` } : made;
}

function artifact(artifactId: string, name: string, parts: Artifact['parts']): Artifact {
  return { artifactId, name, description: '', parts, metadata: undefined, extensions: [] };
}

/** History from the thread's messages. Client turns appear as sent, even if the state holds no message for them. */
function historyOf({ row, turns, state }: TaskContext, scope: 'task' | 'context'): Message[] {
  const messages = stateMessages(state?.values);
  const start = taskStart(turns, messages);
  // Clients may reuse a message id; the state then holds the first message.
  const missing = new Set(turns);
  const history = messages.map((message, i) => {
    const turn = [...missing].find((each) => messageIdOf(each.message) === messageIdOf(message));
    if (!turn) return historyMessage(row, message, i >= start);
    missing.delete(turn);
    return turnMessage(row, turn);
  });
  for (const turn of [...missing].toReversed())
    history.splice(Math.max(turn.position, start), 0, turnMessage(row, turn));
  return history
    .slice(scope === 'task' ? start : 0)
    .filter((message): message is Message => message !== undefined && message.parts.length > 0);
}

function turnMessage({ context_id, task_id }: A2aTaskRow, { message }: A2aTurn): Message {
  return { ...Message.fromJSON(message), contextId: context_id, taskId: task_id };
}

function historyMessage(row: A2aTaskRow, message: StateMessage, is_own: boolean): Message | undefined {
  if (!isAiMessage(message) && message.type !== 'human') return undefined;
  return {
    ...agentMessage(row, messageIdOf(message) ?? '', partsOf(message.content)),
    role: isAiMessage(message) ? Role.ROLE_AGENT : Role.ROLE_USER,
    taskId: is_own ? row.task_id : '',
  };
}

/** Index of the task's first message in the thread. */
function taskStart([first]: readonly A2aTurn[], messages: readonly StateMessage[]): number {
  if (!first) return 0;
  const found = messages.findIndex((message) => messageIdOf(message) === messageIdOf(first.message));
  return found >= 0 ? found : Math.min(first.position, messages.length);
}

function messageIdOf(message: unknown): string | undefined {
  if (!isObject(message)) return undefined;
  const id = message['id'] ?? message['messageId'];
  return typeof id === 'string' ? id : undefined;
}

import {
  type Message,
  type StreamResponse,
  type Task,
  type TaskArtifactUpdateEvent,
  TaskState,
} from '@a2a-js/sdk';
import type { Frame } from '../../events/frame.ts';
import type { A2aTaskRow } from '../../storage/a2a/tasks.ts';
import { textPart } from './parts.ts';
import type { Pieces } from './pieces.ts';
import { type ShownPiece, saidIn, streamedIn } from './shown-artifacts.ts';
import { agentMessage } from './task-view.ts';

export type Payload = NonNullable<StreamResponse['payload']>;

export function payloadsOf(row: A2aTaskRow, frame: Frame, pieces: Pieces): Payload[] {
  if (frame.event === 'metadata') return [working(row, undefined)];
  if (frame.event === 'messages')
    return streamedIn(frame)
      .map((piece) => pieces.add(piece))
      .map(asUpdate(row));
  const { status, piece } = saidIn(frame);
  return [
    ...(status === undefined ? [] : [working(row, status, frame.seq)]),
    ...(piece ? [asUpdate(row)(pieces.addShown(piece))] : []),
  ];
}

function working(row: A2aTaskRow, text: string | undefined, seq = 0): Payload {
  const message =
    text === undefined ? undefined : agentMessage(row, `${row.run_id}-${seq}`, [textPart(text)]);
  const status = { state: TaskState.TASK_STATE_WORKING, message, timestamp: row.at };
  return {
    $case: 'statusUpdate',
    value: { taskId: row.task_id, contextId: row.context_id, status, metadata: undefined },
  };
}

export function lastStatus({ id, contextId, status, artifacts }: Task, tells_answer: boolean): Payload {
  const isDone = status?.state === TaskState.TASK_STATE_COMPLETED;
  const parts = artifacts.flatMap((artifact) => artifact.parts);
  const answer: Message | undefined =
    tells_answer && isDone && parts.length > 0
      ? agentMessage({ task_id: id, context_id: contextId }, `${id}-answer`, parts)
      : undefined;
  const told = status && { ...status, message: status.message ?? answer };
  return { $case: 'statusUpdate', value: { taskId: id, contextId, status: told, metadata: undefined } };
}

/** What the task has and the stream has not yet told, and the ends of what it told. */
export function lastPieces(row: A2aTaskRow, pieces: Pieces, { artifacts }: Task): Payload[] {
  const untold = artifacts.filter((artifact) => !pieces.hasTold(artifact));
  const whole = untold.map((artifact) => ({ artifact, append: false, lastChunk: true }));
  return [...pieces.ends(), ...whole].map(asUpdate(row));
}

function asUpdate(row: A2aTaskRow) {
  return (piece: ShownPiece) => artifactUpdate(row, piece);
}

export function artifactUpdate({ task_id, context_id }: A2aTaskRow, piece: ShownPiece): Payload {
  const value: TaskArtifactUpdateEvent = {
    taskId: task_id,
    contextId: context_id,
    ...piece,
    metadata: undefined,
  };
  return { $case: 'artifactUpdate', value };
}

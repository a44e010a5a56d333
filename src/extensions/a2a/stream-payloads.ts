import {
  Artifact,
  type Message,
  type StreamResponse,
  type Task,
  type TaskArtifactUpdateEvent,
  TaskState,
} from '@a2a-js/sdk';
import type { Frame } from '../../events/frame.ts';
import {
  type ArtifactChunk,
  applyChunk,
  customEventOf,
  type StreamedChunk,
  streamedChunks,
} from './event-artifacts.ts';
import { textPart } from './parts.ts';
import type { A2aTaskRow } from './storage/tasks.ts';
import { agentMessage } from './task-view.ts';

export type Payload = NonNullable<StreamResponse['payload']>;

export function payloadsOf(row: A2aTaskRow, frame: Frame, chunks: ArtifactChunks): Payload[] {
  if (frame.event === 'metadata')
    return [workingStatus(row, undefined), ...chunks.abandon().map(asUpdate(row))];
  if (frame.event === 'messages')
    return streamedChunks(frame)
      .map((streamed) => chunks.add(streamed))
      .map(asUpdate(row));
  const { status, chunk } = customEventOf(frame);
  return [
    ...(status === undefined ? [] : [workingStatus(row, status, frame.seq)]),
    ...(chunk ? [asUpdate(row)(chunks.append(chunk))] : []),
  ];
}

function workingStatus(row: A2aTaskRow, text: string | undefined, seq = 0): Payload {
  const message =
    text === undefined ? undefined : agentMessage(row, `${row.run_id}-${seq}`, [textPart(text)]);
  const status = { state: TaskState.TASK_STATE_WORKING, message, timestamp: row.at };
  return {
    $case: 'statusUpdate',
    value: { taskId: row.task_id, contextId: row.context_id, status, metadata: undefined },
  };
}

export function finalStatus({ id, contextId, status, artifacts }: Task, answer_in_status: boolean): Payload {
  const isDone = status?.state === TaskState.TASK_STATE_COMPLETED;
  const parts = artifacts.flatMap((artifact) => artifact.parts);
  const answer: Message | undefined =
    answer_in_status && isDone && parts.length > 0
      ? agentMessage({ task_id: id, context_id: contextId }, `${id}-answer`, parts)
      : undefined;
  const finalState = status && { ...status, message: status.message ?? answer };
  return { $case: 'statusUpdate', value: { taskId: id, contextId, status: finalState, metadata: undefined } };
}

/** Closes the open artifacts, and sends those of the task that the stream has not sent. */
export function finalChunks(row: A2aTaskRow, chunks: ArtifactChunks, { artifacts }: Task): Payload[] {
  const unsent = artifacts.filter((artifact) => !chunks.hasSent(artifact));
  const whole = unsent.map((artifact) => ({ artifact, append: false, lastChunk: true }));
  return [...chunks.closingChunks(), ...whole].map(asUpdate(row));
}

function asUpdate(row: A2aTaskRow) {
  return (chunk: ArtifactChunk) => artifactUpdate(row, chunk);
}

export function artifactUpdate({ task_id, context_id }: A2aTaskRow, chunk: ArtifactChunk): Payload {
  const value: TaskArtifactUpdateEvent = {
    taskId: task_id,
    contextId: context_id,
    ...chunk,
    metadata: undefined,
  };
  return { $case: 'artifactUpdate', value };
}

/** Artifacts as sent to the client so far. */
export class ArtifactChunks {
  #sent: Artifact[] = [];
  /** Ids of artifacts without a last chunk yet. */
  readonly #open = new Set<string>();
  /** Ids of artifacts of models. */
  readonly #streamed = new Set<string>();

  add({ artifact, isWhole }: StreamedChunk): ArtifactChunk {
    this.#streamed.add(artifact.artifactId);
    const isKnown = this.#sent.some(({ artifactId }) => artifactId === artifact.artifactId);
    return this.append({ artifact, append: isKnown && !isWhole, lastChunk: isWhole });
  }

  append(chunk: ArtifactChunk): ArtifactChunk {
    this.#sent = applyChunk(this.#sent, chunk);
    const { artifactId } = chunk.artifact;
    if (chunk.lastChunk) this.#open.delete(artifactId);
    else this.#open.add(artifactId);
    return chunk;
  }

  /** At the start of an attempt: empties what models were streaming when the previous one was lost. */
  abandon(): ArtifactChunk[] {
    const isLost = ({ artifactId }: Artifact) => this.#streamed.has(artifactId) && this.#open.has(artifactId);
    const lost = this.#sent.filter(isLost);
    this.#sent = this.#sent.filter((artifact) => !isLost(artifact));
    for (const { artifactId } of lost) this.#open.delete(artifactId);
    return lost.map((artifact) => ({
      artifact: { ...artifact, parts: [textPart('')] },
      append: false,
      lastChunk: true,
    }));
  }

  /** Each artifact so far as one chunk. */
  snapshot(): ArtifactChunk[] {
    return this.#sent.map((artifact) => ({
      artifact,
      append: false,
      lastChunk: !this.#open.has(artifact.artifactId),
    }));
  }

  /**
   * Closing chunks of the open artifacts. Holding each chunk back to mark the last one would delay it until the next
   * one arrives.
   */
  closingChunks(): ArtifactChunk[] {
    const open = this.#sent.filter(({ artifactId }) => this.#open.has(artifactId));
    return open.map((artifact) => {
      const isText = artifact.parts.at(-1)?.content?.$case === 'text';
      if (!isText) return { artifact, append: false, lastChunk: true };
      return { artifact: { ...artifact, parts: [textPart('')] }, append: true, lastChunk: true };
    });
  }

  hasSent(artifact: Artifact): boolean {
    const sent = this.#sent.find(({ artifactId }) => artifactId === artifact.artifactId);
    const parts = (each: Artifact) => JSON.stringify((Artifact.toJSON(each) as { parts?: unknown }).parts);
    return sent !== undefined && parts(sent) === parts(artifact);
  }
}

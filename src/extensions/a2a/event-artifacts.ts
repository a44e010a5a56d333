import { Artifact } from '@a2a-js/sdk';
import type { Actor } from '../../auth/actor.ts';
import { undefinedIfNotFound } from '../../core/errors.ts';
import { isObject } from '../../core/json.ts';
import type { Frame } from '../../events/frame.ts';
import { isAiMessage, isMessage, stateMessages } from '../../services/conversation/messages.ts';
import type { RunService } from '../../services/runs/runs.ts';
import { partsOf } from './parts.ts';
import { answerArtifact, type TaskContext } from './task-view.ts';

/** Artifact chunk in a custom event: `{a2a: {artifact: {id, name?, parts, append?, last_chunk?}}}`. */
export interface ArtifactChunk {
  readonly artifact: Artifact;
  readonly append: boolean;
  readonly lastChunk: boolean;
}

/** Status text and artifact chunk that a graph sends to A2A clients in a custom event. */
export function customEventOf({ event, data }: Frame): { status?: string; chunk?: ArtifactChunk } {
  if (event !== 'custom') return {};
  const value: unknown = JSON.parse(data);
  const payload = isObject(value) && isObject(value['a2a']) ? value['a2a'] : {};
  const chunk = chunkOf(payload['artifact']);
  return {
    ...(typeof payload['status'] === 'string' ? { status: payload['status'] } : {}),
    ...(chunk ? { chunk } : {}),
  };
}

/** Streamed output of a chat model. */
export interface StreamedChunk {
  readonly artifact: Artifact;
  /** A complete message; `false` for a token chunk. */
  readonly isWhole: boolean;
}

/** Model output in a `messages` frame. */
export function streamedChunks({ event, data }: Frame): StreamedChunk[] {
  if (event !== 'messages') return [];
  const [message] = JSON.parse(data) as unknown[];
  if (!isMessage(message) || !isAiMessage(message) || typeof message['id'] !== 'string') return [];
  const parts = partsOf(message.content);
  if (parts.length === 0) return [];
  return [{ artifact: answerArtifact(message['id'], parts), isWhole: message.type === 'ai' }];
}

/** Appends the chunk to its artifact, replaces the artifact, or adds it. */
export function applyChunk(
  artifacts: readonly Artifact[],
  { artifact, append }: Omit<ArtifactChunk, 'lastChunk'>,
): Artifact[] {
  const at = artifacts.findIndex(({ artifactId }) => artifactId === artifact.artifactId);
  const before = artifacts[at];
  if (!before) return [...artifacts, artifact];
  const parts = append ? joinParts(before.parts, artifact.parts) : artifact.parts;
  return artifacts.with(at, { ...before, ...(append ? {} : artifact), parts });
}

/**
 * Stored artifacts of the task plus those streamed by `run_ids`, ended runs whose logs will be purged. Streamed model
 * text that no state message holds is an artifact too, because clients have seen it. Text of an abandoned attempt is
 * not, nor any if the graph writes its own `a2a` output.
 */
export async function eventArtifacts(
  runs: RunService,
  actor: Actor,
  { row, state, agent_output: agentOutput }: TaskContext,
  run_ids: readonly string[],
): Promise<unknown[]> {
  let artifacts = row.artifacts.map((artifact) => Artifact.fromJSON(artifact));
  let streamed: Artifact[] = [];
  const { signal } = new AbortController();
  for (const run_id of run_ids) {
    const frames = await runs
      .joinStream(actor, row.thread_id, run_id, { after: 0 }, signal)
      .catch(undefinedIfNotFound);
    for await (const frame of frames ?? []) {
      if (frame.event === 'metadata') streamed = [];
      for (const { artifact, isWhole } of streamedChunks(frame))
        streamed = applyChunk(streamed, { artifact, append: !isWhole });
      const { chunk } = customEventOf(frame);
      if (chunk) artifacts = applyChunk(artifacts, chunk);
    }
    artifacts = [
      ...artifacts,
      ...(Object.keys(agentOutput).length > 0 ? [] : streamed.filter(isMissingFrom(state?.values))),
    ];
    streamed = [];
  }
  return artifacts.map((artifact) => Artifact.toJSON(artifact));
}

/** Compares by id, then by content: a node may return its own message with the model's text. */
function isMissingFrom(values: unknown): (artifact: Artifact) => boolean {
  const messages = stateMessages(values);
  const ids = new Set(messages.map(({ id }) => id));
  let texts: Set<string> | undefined;
  const isSaid = (parts: Artifact['parts']) => {
    texts ??= new Set(messages.filter(isAiMessage).map(({ content }) => JSON.stringify(partsOf(content))));
    return texts.has(JSON.stringify(parts));
  };
  return ({ artifactId, parts }) => !ids.has(artifactId) && !isSaid(parts);
}

/** Concatenates text with a preceding text part. */
function joinParts(before: Artifact['parts'], more: Artifact['parts']): Artifact['parts'] {
  const last = before.at(-1);
  const [first, ...others] = more;
  if (last?.content?.$case !== 'text' || first?.content?.$case !== 'text') return [...before, ...more];
  const text = {
    ...last,
    content: { $case: 'text' as const, value: last.content.value + first.content.value },
  };
  return [...before.slice(0, -1), text, ...others];
}

function chunkOf(value: unknown): ArtifactChunk | undefined {
  if (!isObject(value) || typeof value['id'] !== 'string' || !Array.isArray(value['parts'])) return undefined;
  const { id, append, last_chunk, ...rest } = value;
  return {
    artifact: Artifact.fromJSON({ ...rest, artifactId: id }),
    append: append === true,
    lastChunk: last_chunk === true,
  };
}

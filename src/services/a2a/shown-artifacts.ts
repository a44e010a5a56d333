import { Artifact } from '@a2a-js/sdk';
import { isObject } from '../../core/json.ts';
import type { Frame } from '../../events/frame.ts';

/** A piece of an artifact that a graph shows while it works: `{a2a: {artifact: {id, name?, parts, append?, last_chunk?}}}`. */
export interface ShownPiece {
  readonly artifact: Artifact;
  readonly append: boolean;
  readonly lastChunk: boolean;
}

/** What a graph says to clients of this protocol by a custom event. */
export function saidIn({ event, data }: Frame): { status?: string; piece?: ShownPiece } {
  if (event !== 'custom') return {};
  const value: unknown = JSON.parse(data);
  const said = isObject(value) && isObject(value['a2a']) ? value['a2a'] : {};
  const piece = pieceOf(said['artifact']);
  return {
    ...(typeof said['status'] === 'string' ? { status: said['status'] } : {}),
    ...(piece ? { piece } : {}),
  };
}

/** The artifacts after another piece of one of them. */
export function withPiece(artifacts: readonly Artifact[], { artifact, append }: ShownPiece): Artifact[] {
  const at = artifacts.findIndex(({ artifactId }) => artifactId === artifact.artifactId);
  const before = artifacts[at];
  if (!before) return [...artifacts, artifact];
  const parts = append ? joined(before.parts, artifact.parts) : artifact.parts;
  return artifacts.with(at, { ...before, ...(append ? {} : artifact), parts });
}

/** Text goes on where text was. */
function joined(before: Artifact['parts'], more: Artifact['parts']): Artifact['parts'] {
  const last = before.at(-1);
  const [first, ...others] = more;
  if (last?.content?.$case !== 'text' || first?.content?.$case !== 'text') return [...before, ...more];
  const text = {
    ...last,
    content: { $case: 'text' as const, value: last.content.value + first.content.value },
  };
  return [...before.slice(0, -1), text, ...others];
}

function pieceOf(value: unknown): ShownPiece | undefined {
  if (!isObject(value) || typeof value['id'] !== 'string' || !Array.isArray(value['parts'])) return undefined;
  const { id, append, last_chunk, ...rest } = value;
  return {
    artifact: Artifact.fromJSON({ ...rest, artifactId: id }),
    append: append === true,
    lastChunk: last_chunk === true,
  };
}

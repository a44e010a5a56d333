import { Artifact } from '@a2a-js/sdk';
import { type ShownPiece, withPiece } from './shown-artifacts.ts';

/** The artifacts as a client knows them. The newest piece of each is held back until it is known whether it is the last. */
export class Pieces {
  #told: Artifact[] = [];
  readonly #held = new Map<string, ShownPiece>();

  add(artifact: Artifact): ShownPiece[] {
    const append = this.#told.some(({ artifactId }) => artifactId === artifact.artifactId);
    return this.addShown({ artifact, append, lastChunk: false });
  }

  addShown(piece: ShownPiece): ShownPiece[] {
    this.#told = withPiece(this.#told, piece);
    const { artifactId } = piece.artifact;
    const before = this.#held.get(artifactId);
    if (piece.lastChunk) this.#held.delete(artifactId);
    else this.#held.set(artifactId, piece);
    return [...(before ? [before] : []), ...(piece.lastChunk ? [piece] : [])];
  }

  /** Each so far as one piece, without what is held back. */
  whole(): ShownPiece[] {
    return this.#told.flatMap((artifact) => {
      const held = this.#held.get(artifact.artifactId);
      if (held && !held.append) return [];
      const text = withoutEnd(artifact, held);
      return [{ artifact: text, append: false, lastChunk: held === undefined }];
    });
  }

  ends(): ShownPiece[] {
    return [...this.#held.values()].map((piece) => ({ ...piece, lastChunk: true }));
  }

  hasTold(artifact: Artifact): boolean {
    const told = this.#told.find(({ artifactId }) => artifactId === artifact.artifactId);
    const parts = (each: Artifact) => JSON.stringify((Artifact.toJSON(each) as { parts?: unknown }).parts);
    return told !== undefined && parts(told) === parts(artifact);
  }
}

function withoutEnd(artifact: Artifact, held: ShownPiece | undefined): Artifact {
  const end = held?.artifact.parts.at(0)?.content;
  const last = artifact.parts.at(-1);
  if (end?.$case !== 'text' || last?.content?.$case !== 'text') return artifact;
  const value = last.content.value.slice(0, last.content.value.length - end.value.length);
  return {
    ...artifact,
    parts: [...artifact.parts.slice(0, -1), { ...last, content: { $case: 'text', value } }],
  };
}

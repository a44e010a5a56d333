import { Artifact } from '@a2a-js/sdk';
import { textPart } from './parts.ts';
import { type ShownPiece, type StreamedPiece, withPiece } from './shown-artifacts.ts';

/** The artifacts as a client knows them. */
export class Pieces {
  #told: Artifact[] = [];
  /** Ids of those that may go on. */
  readonly #open = new Set<string>();

  add({ artifact, isWhole }: StreamedPiece): ShownPiece {
    const isKnown = this.#told.some(({ artifactId }) => artifactId === artifact.artifactId);
    return this.addShown({ artifact, append: isKnown && !isWhole, lastChunk: isWhole });
  }

  addShown(piece: ShownPiece): ShownPiece {
    this.#told = withPiece(this.#told, piece);
    const { artifactId } = piece.artifact;
    if (piece.lastChunk) this.#open.delete(artifactId);
    else this.#open.add(artifactId);
    return piece;
  }

  /** Each so far as one piece. */
  whole(): ShownPiece[] {
    return this.#told.map((artifact) => ({
      artifact,
      append: false,
      lastChunk: !this.#open.has(artifact.artifactId),
    }));
  }

  /**
   * The ends of those that were not known to be the last pieces when they came. A piece that waited for the next one
   * to come, to say that, would be late by as long as a graph goes on.
   */
  ends(): ShownPiece[] {
    const open = this.#told.filter(({ artifactId }) => this.#open.has(artifactId));
    return open.map((artifact) => {
      const isText = artifact.parts.at(-1)?.content?.$case === 'text';
      if (!isText) return { artifact, append: false, lastChunk: true };
      return { artifact: { ...artifact, parts: [textPart('')] }, append: true, lastChunk: true };
    });
  }

  hasTold(artifact: Artifact): boolean {
    const told = this.#told.find(({ artifactId }) => artifactId === artifact.artifactId);
    const parts = (each: Artifact) => JSON.stringify((Artifact.toJSON(each) as { parts?: unknown }).parts);
    return told !== undefined && parts(told) === parts(artifact);
  }
}

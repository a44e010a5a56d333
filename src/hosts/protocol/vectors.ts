import { isVector, type Vector } from '../../graphs/store/embedder.ts';

/** What an embedder returned for a text; null if it is no list of finite numbers. */
export function toWireVector(vector: unknown): Uint8Array | null {
  return isVector(vector) ? new Uint8Array(Float32Array.from(vector).buffer) : null;
}

/** Without numbers for what was none: the index then says what is wrong. */
export function fromWireVector(bytes: Uint8Array | null): Vector {
  // A copy: floats begin at a multiple of their size.
  return bytes ? new Float32Array(new Uint8Array(bytes).buffer) : [];
}

import { createHash } from 'node:crypto';

/**
 * A small embedding that means something: texts that share words point the same way. The same text always has the same
 * vector, whose numbers count its words, each in the place that its hash names.
 */
export function bagOfWords(dims: number) {
  return async (texts: string[]): Promise<number[][]> => texts.map((text) => countWords(text, dims));
}

function countWords(text: string, dims: number): number[] {
  const vector = new Array<number>(dims).fill(0);
  for (const [word] of text.toLowerCase().matchAll(/[\p{L}\p{N}]+/gu)) {
    const place = createHash('sha1').update(word).digest().readUInt32BE() % dims;
    vector[place] = (vector[place] ?? 0) + 1;
  }
  return vector;
}

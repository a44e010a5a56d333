import { memo, useState } from 'react';
import { growing, ownCopy } from './growing.ts';

/** Size of a chunk of lines that is laid out together, characters. */
const CHUNK = 2_000;

/** The lines of a growing text, verbatim. Of a long one, the browser lays out only the last chunk again. */
export function Lines({ text }: { text: string }) {
  const [chunksOf] = useState(growingChunks);
  const chunks = chunksOf(text);
  // biome-ignore lint/suspicious/noArrayIndexKey: chunks grow and are added, but never move
  return chunks.map((chunk, i) => <Chunk key={i} text={chunk} />);
}

const Chunk = memo(function Chunk({ text }: { text: string }) {
  return <span className="block">{text}</span>;
});

/**
 * Returns a function that splits a growing text into chunks, without the line breaks between them. No chunk ends with an
 * empty line, which a block element would not show.
 */
export function growingChunks(): (text: string) => readonly string[] {
  return growing({ chunks: [] as readonly string[], from: 0 }, (before, text) => {
    const chunks = [...before.chunks];
    let { from } = before;
    for (let end = endAfter(text, from); end >= 0; end = endAfter(text, from)) {
      chunks.push(ownCopy(text.slice(from, end)));
      from = end + 1;
    }
    return [{ chunks, from }, [...chunks, ownCopy(text.slice(from))]];
  });
}

/** End of the line that completes a chunk, or -1 if the text is too short. */
function endAfter(text: string, from: number): number {
  let end = text.indexOf('\n', from + CHUNK);
  while (text[end - 1] === '\n') end = text.indexOf('\n', end + 1);
  return end;
}

import { memo, useState } from 'react';
import { growing, ownCopy } from './growing.ts';

/** Lines that are laid out together, characters. */
const CHUNK = 2_000;

/** Lines of a text that may grow, as they are. Of a long one, the browser lays out only the last chunk anew. */
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
 * Returns a function that divides a growing text, without the ends of lines between its chunks. None ends with an empty
 * line, which a block would not show.
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

/** Where the line ends with which a chunk is long enough; -1 if the text is not that long. */
function endAfter(text: string, from: number): number {
  let end = text.indexOf('\n', from + CHUNK);
  while (text[end - 1] === '\n') end = text.indexOf('\n', end + 1);
  return end;
}

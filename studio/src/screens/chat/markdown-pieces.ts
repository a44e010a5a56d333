/** Shorter texts are one piece, characters. */
const LEAST = 2_000;
/** A paragraph of one line that is longer is shown as several, characters. */
const LONGEST_LINE = 8_000;

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
/** A line that does not go on with what was before a blank one, as items of lists and indented lines may. */
const BEGINS_ANEW = /^(?![-+*>|] ?|\d+[.)])\S/;
/** Links and footnotes that another piece may refer to. */
const DEFINITION = /^ {0,3}\[[^\]\n]+\]:/m;

/**
 * Parts of a Markdown text that mean the same one by one as together. Of an answer that grows, only the last one changes,
 * so that a token does not cost more the longer the answer is.
 */
export function piecesOf(text: string): readonly string[] {
  if (text.length < LEAST || DEFINITION.test(text)) return [text];
  const pieces: string[] = [];
  let piece = '';
  let fence: string | undefined;
  let isAfterBlank = false;
  for (const line of text.split(/(?<=\n)/)) {
    if (fence === undefined && isAfterBlank && piece.length >= LEAST && BEGINS_ANEW.test(line)) {
      pieces.push(piece);
      piece = '';
    }
    const mark = FENCE.exec(line)?.[1];
    if (mark !== undefined && fence === undefined) fence = mark;
    else if (fence !== undefined && mark?.startsWith(fence)) fence = undefined;
    isAfterBlank = line.trim() === '';
    const parts = fence === undefined ? cut(line) : [line];
    for (const part of parts.slice(0, -1)) {
      pieces.push(piece + part);
      piece = '';
    }
    piece += parts.at(-1);
  }
  return [...pieces, piece];
}

/** A line in parts that are not too long, each but the last with a space at its end. */
function cut(line: string): string[] {
  const parts: string[] = [];
  let from = 0;
  while (line.length - from > LONGEST_LINE) {
    const space = line.lastIndexOf(' ', from + LONGEST_LINE);
    if (space <= from) break;
    parts.push(line.slice(from, space + 1));
    from = space + 1;
  }
  return [...parts, line.slice(from)];
}

import { growing, ownCopy } from './growing.ts';

/** Shorter texts are one piece, characters; longer pieces end where the next block begins. */
const LEAST = 2_000;
/** A paragraph of one line that is longer is shown as several, characters. */
const LONGEST_LINE = 8_000;

/** What begins a code block; backquotes after a word on the same line are code within a sentence. */
const FENCE = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/;
const END_OF_CODE = /^ {0,3}(`{3,}|~{3,})\s*$/;
/** A line that does not go on with what was before a blank one, as items of lists and indented lines may. */
const BEGINS_ANEW = /^(?![-+*>|] ?|\d+[.)])\S/;
const BULLET = /^[-+*] +\S/;
const NUMBERED = /^(\d{1,9})[.)] +\S/;
/** Links and footnotes that another piece may refer to. */
const DEFINITION = /^ {0,3}\[[^\]\n]+\]:/;

/** A part of a Markdown text that means the same alone as among the others. */
export interface Piece {
  readonly kind: 'text' | 'code';
  /** Markdown; of a code block, what is between its fences. */
  readonly text: string;
  /** It goes on with the list at the end of the piece before. */
  readonly isSameList: boolean;
}

/** What has been read of a text: whole lines. */
interface Reading {
  /** Characters read. */
  readonly at: number;
  readonly finished: readonly Piece[];
  /** Where the piece begins that is not finished. */
  readonly from: number;
  readonly isSameList: boolean;
  /** What began the code block that is open. Within a list it belongs to the text. */
  readonly fence: { readonly mark: string; readonly isPiece: boolean } | undefined;
  /** The list at the margin that is open: the number of its last item, 0 for bullets. */
  readonly list: number | undefined;
  readonly isAfterBlank: boolean;
  readonly hasDefinitions: boolean;
}

const BEGINNING: Reading = {
  at: 0,
  finished: [],
  from: 0,
  isSameList: false,
  fence: undefined,
  list: undefined,
  isAfterBlank: true,
  hasDefinitions: false,
};

/**
 * Returns a function that divides a Markdown text which grows from call to call. Only the last piece changes, and only
 * what is new is read: a token does not cost more the longer the answer is. Other texts are read from their beginning.
 */
export function growingPieces(): (text: string) => readonly Piece[] {
  return growing(BEGINNING, (reading, text) => {
    let now = reading;
    for (let end = text.indexOf('\n', now.at); end >= 0; end = text.indexOf('\n', now.at))
      now = withLine(now, text, end + 1);
    return [now, piecesOf(withLine(now, text, text.length), text)];
  });
}

function piecesOf(
  { finished, from, fence, isSameList, hasDefinitions }: Reading,
  text: string,
): readonly Piece[] {
  if (text.length < LEAST || hasDefinitions) return [{ kind: 'text', text, isSameList: false }];
  if (from === text.length && !fence?.isPiece) return finished;
  return [
    ...finished,
    { kind: fence?.isPiece ? 'code' : 'text', text: ownCopy(text.slice(from)), isSameList },
  ];
}

function withLine(before: Reading, text: string, end: number): Reading {
  const line = text.slice(before.at, end);
  const now = { ...before, at: end };
  if (before.fence) return inCode(now, text, line);
  const mark = FENCE.exec(line)?.[1];
  if (mark !== undefined && line.startsWith(mark))
    return { ...endedAt(before.at, now, text), from: end, fence: { mark, isPiece: true }, list: undefined };
  const list = listAfter(before, line);
  const isNextNumber = list !== undefined && list > 1 && before.list === list - 1;
  const isBlock = isNextNumber || BULLET.test(line) || (before.isAfterBlank && BEGINS_ANEW.test(line));
  const isCut = isBlock && before.at - before.from >= LEAST;
  const next = {
    ...(isCut ? endedAt(before.at, now, text) : now),
    ...(isCut && { isSameList: isNextNumber || (list === 0 && before.list === 0) }),
    fence: mark === undefined ? undefined : { mark, isPiece: false },
    list,
    isAfterBlank: line.trim() === '',
    hasDefinitions: before.hasDefinitions || DEFINITION.test(line),
  };
  return withCuts(next, text, before.at);
}

function inCode(now: Reading, text: string, line: string): Reading {
  const { mark = '', isPiece } = now.fence ?? {};
  if (!END_OF_CODE.exec(line)?.[1]?.startsWith(mark)) return now;
  if (!isPiece) return { ...now, fence: undefined };
  return {
    ...endedAt(now.at - line.length, now, text, 'code'),
    from: now.at,
    fence: undefined,
    isAfterBlank: true,
  };
}

/** The list that is open after a line. A number in a paragraph begins none, unless it is 1. */
function listAfter({ list, isAfterBlank }: Reading, line: string): number | undefined {
  if (line === '' || /^\s/.test(line)) return list;
  if (BULLET.test(line)) return 0;
  const number = Number(NUMBERED.exec(line)?.[1] ?? Number.NaN);
  return number === 1 || number - 1 === list || (isAfterBlank && number >= 0) ? number : undefined;
}

/** The piece is finished; the next one begins at `end`. */
function endedAt(end: number, now: Reading, text: string, kind: Piece['kind'] = 'text'): Reading {
  if (kind === 'text' && end === now.from) return now;
  const piece = { kind, text: ownCopy(text.slice(now.from, end)), isSameList: now.isSameList };
  return { ...now, finished: [...now.finished, piece], from: end, isSameList: false };
}

/** Ends pieces within a line that is too long, each after a space. */
function withCuts(reading: Reading, text: string, beginning: number): Reading {
  let now = reading;
  let from = beginning;
  while (now.at - from > LONGEST_LINE) {
    const space = text.lastIndexOf(' ', from + LONGEST_LINE);
    if (space <= from) break;
    from = space + 1;
    now = endedAt(from, now, text);
  }
  return now;
}

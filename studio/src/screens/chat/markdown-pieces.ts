import { growing, ownCopy } from './growing.ts';
import { cellsOf } from './table-cells.ts';

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
/** The line below the head of a table. */
const DELIMITERS = /^\|?( *:?-+:? *\|)+( *:?-+:? *)?$/;
/** A line in a table that does not begin anything else. */
const ROW = /^ {0,3}(?![-+*>#`~<_=\s]|\d+[.)])./;

/** A part of a Markdown text that means the same alone as among the others. */
export interface Piece {
  readonly kind: 'text' | 'code' | 'table';
  /** Markdown; of a code block, what is between its fences. Each piece of a table begins with the head of the table. */
  readonly text: string;
  /** It goes on with the list or the table at the end of the piece before. */
  readonly goesOn: boolean;
}

/** What has been read of a text: whole lines. */
interface Reading {
  /** Characters read. */
  readonly at: number;
  readonly finished: readonly Piece[];
  /** Where the piece begins that is not finished. */
  readonly from: number;
  readonly goesOn: boolean;
  /** What began the code block that is open. Within a list it belongs to the text. */
  readonly fence: { readonly mark: string; readonly isPiece: boolean } | undefined;
  /** The list at the margin that is open: the number of its last item, 0 for bullets. */
  readonly list: number | undefined;
  /** The two lines that the open table begins with. */
  readonly head: string | undefined;
  /** Where the last line begins, if it can be the first of a table. */
  readonly maybeHead: number | undefined;
  readonly isAfterBlank: boolean;
  readonly hasDefinitions: boolean;
}

const BEGINNING: Reading = {
  at: 0,
  finished: [],
  from: 0,
  goesOn: false,
  fence: undefined,
  list: undefined,
  head: undefined,
  maybeHead: undefined,
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

function piecesOf(reading: Reading, text: string): readonly Piece[] {
  const { finished, from, fence, hasDefinitions } = reading;
  if (text.length < LEAST || hasDefinitions) return [{ kind: 'text', text, goesOn: false }];
  if (from === text.length && !fence?.isPiece) return finished;
  return [...finished, pieceTo(text.length, reading, text)];
}

/** What is open, as far as `end`. */
function pieceTo(end: number, { from, fence, head, goesOn }: Reading, text: string): Piece {
  const written = ownCopy(text.slice(from, end));
  if (fence?.isPiece) return { kind: 'code', text: written, goesOn };
  if (head === undefined) return { kind: 'text', text: written, goesOn };
  return { kind: 'table', text: goesOn ? head + written : written, goesOn };
}

function withLine(before: Reading, text: string, end: number): Reading {
  const line = text.slice(before.at, end);
  const now = { ...before, at: end };
  if (before.fence) return inCode(now, text, line);
  if (before.head !== undefined) return inTable(before, now, text, line);
  const mark = FENCE.exec(line)?.[1];
  if (mark !== undefined && line.startsWith(mark))
    return { ...endedAt(before.at, now, text), from: end, fence: { mark, isPiece: true }, list: undefined };
  if (isHead(before, text, line)) return inTableFrom(before.maybeHead, now, text);
  const list = listAfter(before, line);
  const isNextNumber = list !== undefined && list > 1 && before.list === list - 1;
  const isBlock = isNextNumber || BULLET.test(line) || (before.isAfterBlank && BEGINS_ANEW.test(line));
  const isCut = isBlock && before.at - before.from >= LEAST;
  const next = {
    ...(isCut ? endedAt(before.at, now, text) : now),
    ...(isCut && { goesOn: isNextNumber || (list === 0 && before.list === 0) }),
    fence: mark === undefined ? undefined : { mark, isPiece: false },
    list,
    maybeHead: before.isAfterBlank && line.startsWith('|') ? before.at : undefined,
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
    ...endedAt(now.at - line.length, now, text),
    from: now.at,
    fence: undefined,
    isAfterBlank: true,
  };
}

/** Whether a line makes a table of the one before, which must have as many cells. */
function isHead(before: Reading, text: string, line: string): before is Reading & { maybeHead: number } {
  const { maybeHead, from, at } = before;
  if (maybeHead === undefined || maybeHead < from || !DELIMITERS.test(line.trimEnd())) return false;
  return cellsOf(text.slice(maybeHead, at)) === cellsOf(line);
}

/** A table is a piece of its own, as its rows are drawn by themselves. */
function inTableFrom(beginning: number, now: Reading, text: string): Reading {
  const head = ownCopy(text.slice(beginning, now.at));
  return { ...endedAt(beginning, now, text), from: beginning, head, list: undefined, isAfterBlank: false };
}

function inTable(before: Reading, now: Reading, text: string, line: string): Reading {
  if (ROW.test(line)) {
    const isCut = line.startsWith('|') && before.at - before.from >= LEAST;
    return isCut ? { ...endedAt(before.at, now, text), goesOn: true } : now;
  }
  if (line === '') return now;
  const after = { head: undefined, maybeHead: undefined, isAfterBlank: true };
  if (line.trim() === '') return { ...endedAt(now.at, now, text), ...after };
  return withLine({ ...endedAt(before.at, before, text), ...after }, text, now.at);
}

/** The list that is open after a line. A number in a paragraph begins none, unless it is 1. */
function listAfter({ list, isAfterBlank }: Reading, line: string): number | undefined {
  if (line === '' || /^\s/.test(line)) return list;
  if (BULLET.test(line)) return 0;
  const number = Number(NUMBERED.exec(line)?.[1] ?? Number.NaN);
  return number === 1 || number - 1 === list || (isAfterBlank && number >= 0) ? number : undefined;
}

/** The piece is finished; the next one begins at `end`. */
function endedAt(end: number, now: Reading, text: string): Reading {
  if (end === now.from && !now.fence) return now;
  return { ...now, finished: [...now.finished, pieceTo(end, now, text)], from: end, goesOn: false };
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

import { growing, ownCopy } from './growing.ts';
import { cellsOf } from './table-cells.ts';

/** Texts up to this length are one piece, characters. Longer pieces end at the next block. */
const LEAST = 2_000;
/** A one-line paragraph longer than this is split, characters. */
const LONGEST_LINE = 8_000;

/** Start of a code block. Backquotes after a word on the same line are inline code. */
const FENCE = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/;
const END_OF_CODE = /^ {0,3}(`{3,}|~{3,})\s*$/;
/** A line that does not continue the block before a blank line, unlike list items and indented lines. */
const BEGINS_ANEW = /^(?![-+*>|] ?|\d+[.)])\S/;
const BULLET = /^[-+*] +\S/;
const NUMBERED = /^(\d{1,9})[.)] +\S/;
/** Link and footnote definitions, which other pieces may refer to. */
const DEFINITION = /^ {0,3}\[[^\]\n]+\]:/;
/** The delimiter row of a table. */
const DELIMITERS = /^\|?( *:?-+:? *\|)+( *:?-+:? *)?$/;
/** A line that continues a table. */
const ROW = /^ {0,3}(?![-+*>#`~<_=\s]|\d+[.)])./;

/** A part of a Markdown text that renders the same on its own as within the whole. */
export interface Piece {
  readonly kind: 'text' | 'code' | 'table';
  /** Markdown, or the content between the fences of a code block. Each piece of a table starts with the table's header. */
  readonly text: string;
  /** Continues the list or table at the end of the previous piece. */
  readonly goesOn: boolean;
}

/** Parser state after the complete lines of a text. */
interface Reading {
  /** Characters read. */
  readonly at: number;
  readonly finished: readonly Piece[];
  /** Start of the unfinished piece. */
  readonly from: number;
  readonly goesOn: boolean;
  /** Fence of the open code block. Within a list it belongs to the text. */
  readonly fence: { readonly mark: string; readonly isPiece: boolean } | undefined;
  /** The open top-level list: the number of its last item, or 0 for bullets. */
  readonly list: number | undefined;
  /** Header and delimiter row of the open table. */
  readonly head: string | undefined;
  /** Start of the last line, if it can be a table header. */
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
 * Returns a function that splits a growing Markdown text into pieces. Only the last piece changes and only new text is
 * parsed, so that the cost of a token does not grow with the answer. Any other text is parsed from the start.
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

/** The open piece, up to `end`. */
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

/** Whether a line turns the previous one, which must have as many cells, into a table header. */
function isHead(before: Reading, text: string, line: string): before is Reading & { maybeHead: number } {
  const { maybeHead, from, at } = before;
  if (maybeHead === undefined || maybeHead < from || !DELIMITERS.test(line.trimEnd())) return false;
  return cellsOf(text.slice(maybeHead, at)) === cellsOf(line);
}

/** A table is its own piece, as its rows are rendered separately. */
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

/** The list that is open after a line. A number within a paragraph starts a list only if it is 1. */
function listAfter({ list, isAfterBlank }: Reading, line: string): number | undefined {
  if (line === '' || /^\s/.test(line)) return list;
  if (BULLET.test(line)) return 0;
  const number = Number(NUMBERED.exec(line)?.[1] ?? Number.NaN);
  return number === 1 || number - 1 === list || (isAfterBlank && number >= 0) ? number : undefined;
}

/** Finishes the piece. The next one starts at `end`. */
function endedAt(end: number, now: Reading, text: string): Reading {
  if (end === now.from && !now.fence) return now;
  return { ...now, finished: [...now.finished, pieceTo(end, now, text)], from: end, goesOn: false };
}

/** Splits a line that is too long, each time after a space. */
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

import { hash } from 'node:crypto';

/** Limit of a stored error text, bytes of UTF-8: room for a long stack, not for a document. */
export const MAX_ERROR_BYTES = 16 * 1024;

/** Begins the note at the end of a truncated text. The masks know it: half a secret may precede it. */
export const CUT = '… (cut, ';

/** The note of a cut: how much there was, or how much is missing. */
export function cutNote(count: number | string, what: string): string {
  return `${CUT}${count.toLocaleString('en-US')} ${what})`;
}

const NOTE = /… \(cut, ([\d,]{1,20}) characters in all\)$/;

/**
 * Truncates the text to `max_bytes` of UTF-8, including a note with its full length. A text that was truncated before keeps
 * the length of that note. Surrogate pairs are not split.
 */
export function truncateText(text: string, max_bytes: number, whole_length = text.length): string {
  // A code unit takes at most three bytes: most texts need not be measured.
  if (whole_length === text.length && text.length * 3 <= max_bytes) return text;
  if (whole_length === text.length && Buffer.byteLength(text) <= max_bytes) return text;
  const [earlier = '', length = whole_length.toLocaleString('en-US')] = NOTE.exec(text.slice(-60)) ?? [];
  const note = cutNote(length, 'characters in all');
  const cut = text.slice(0, text.length - earlier.length);
  return firstBytes(cut, max_bytes - Buffer.byteLength(note)) + note;
}

/** Characters next to a cut that may be half of a word, such as a secret, and go with it. */
const HALF_WORD = 200;

/**
 * The beginning and the end of a text that is longer than `max` characters, with a note between them. Of the words that
 * the cut divides, the second half goes too: the masks know how a secret begins, not how it ends.
 */
export function cutMiddle(text: string, max: number): string {
  if (text.length <= max) return text;
  const note = `${cutNote(text.length, 'characters in all')} `;
  const half = Math.max(0, Math.floor((max - note.length) / 2));
  const end = text.slice(text.length - half);
  const word = end.slice(0, HALF_WORD).search(/\s/);
  return (text.slice(0, half) + note + end.slice(word < 0 ? HALF_WORD : word)).toWellFormed();
}

/** Identifies a text among others: 132 bits of its SHA-256. */
export function textDigest(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 22);
}

/** The text of UTF-8. */
export function fromUtf8(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}

/** Order by code point, as of UTF-8. `<` compares code units, and puts U+10000 and above before U+E000. */
export function compareCodePoints(one: string, other: string): number {
  const length = Math.min(one.length, other.length);
  for (let at = 0; at < length; at++) {
    const [a, b] = [one.charCodeAt(at), other.charCodeAt(at)];
    if (a !== b) return rank(a) - rank(b);
  }
  return one.length - other.length;
}

/** Surrogates, which are in U+D800 to U+DFFF, after all other code units. */
function rank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

/** Longest prefix within `max_bytes` of UTF-8. */
function firstBytes(text: string, max_bytes: number): string {
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(Math.max(0, max_bytes)));
  return text.slice(0, read);
}

/** Removes every trailing `character`. A regular expression such as `/\/+$/` is quadratic. */
export function trimEnd(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end -= 1;
  return text.slice(0, end);
}

/** The text with a full stop, unless it ends a sentence already. */
export function asSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

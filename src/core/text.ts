/** Limit of a stored error text, bytes of UTF-8: room for a long stack, not for a document. */
export const MAX_ERROR_BYTES = 16 * 1024;

/** Truncates the text to `max_bytes` of UTF-8, including a note with its full length. Surrogate pairs are not split. */
export function truncateText(text: string, max_bytes: number, whole_length: number = text.length): string {
  // A code unit takes at most three bytes: most texts need not be measured.
  if (whole_length === text.length && text.length * 3 <= max_bytes) return text;
  if (whole_length === text.length && Buffer.byteLength(text) <= max_bytes) return text;
  const note = `… (cut, ${whole_length.toLocaleString('en-US')} characters in all)`;
  return firstBytes(text, max_bytes - Buffer.byteLength(note)) + note;
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

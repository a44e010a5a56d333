/** What is kept of an error's text, in bytes of UTF-8: a stack of paragraphs, but no document. */
export const MAX_ERROR_BYTES = 16 * 1024;

/**
 * The text within `max_bytes` of UTF-8, the note at its end included, which says how long the whole was. A character
 * that takes two code units stays whole.
 */
export function truncateText(text: string, max_bytes: number, whole_length: number = text.length): string {
  // Each code unit takes at most three bytes, so that most texts need not be measured.
  if (whole_length === text.length && text.length * 3 <= max_bytes) return text;
  if (whole_length === text.length && Buffer.byteLength(text) <= max_bytes) return text;
  const note = `… (cut, ${whole_length.toLocaleString('en-US')} characters in all)`;
  return firstBytes(text, max_bytes - Buffer.byteLength(note)) + note;
}

/** As much of the text as fits into the bytes. */
function firstBytes(text: string, max_bytes: number): string {
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(Math.max(0, max_bytes)));
  return text.slice(0, read);
}

/** The text without this character at its end, however often it is there. An expression such as `/\/+$/` is quadratic. */
export function trimEnd(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end -= 1;
  return text.slice(0, end);
}

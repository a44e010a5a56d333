/** The text without this character at its end, however often it is there. An expression such as `/\/+$/` is quadratic. */
export function trimEnd(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end -= 1;
  return text.slice(0, end);
}

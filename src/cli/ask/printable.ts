/** Text of a model or a graph without what would drive the terminal; line breaks and tabs stay. */
export function printable(text: string): string {
  return text.replace(/[^\P{Cc}\n\t]/gu, '');
}

/** Of a line that is not the answer no more is shown. */
const MAX_LINE = 500;

/**
 * Text of a model or a graph without what would drive the terminal or turn its letters around; line breaks, tabs and
 * what joins emoji and letters stay.
 */
export function sanitizeForTerminal(text: string): string {
  return text.replace(/[^\P{Cc}\n\t]|[^\P{Cf}\u200c\u200d]/gu, '');
}

/** What somebody else wrote, for a line of ours. */
export function oneLine(text: string): string {
  const line = sanitizeForTerminal(text.slice(0, 8 * MAX_LINE).replace(/\s+/g, ' ')).trim();
  const characters = Array.from(line);
  return characters.length <= MAX_LINE ? line : `${characters.slice(0, MAX_LINE - 1).join('')}…`;
}

/** Longest line other than the answer, characters. */
const MAX_LINE = 500;

/**
 * Removes terminal control characters and bidirectional overrides from model or graph output; keeps line breaks, tabs
 * and the joiners of emoji and letters.
 */
export function sanitizeForTerminal(text: string): string {
  return text.replace(/[^\P{Cc}\n\t]|[^\P{Cf}\u200c\u200d]/gu, '');
}

/** Sanitizes foreign text for use within one line. */
export function oneLine(text: string): string {
  const line = sanitizeForTerminal(text.slice(0, 8 * MAX_LINE).replace(/\s+/g, ' ')).trim();
  const characters = Array.from(line);
  return characters.length <= MAX_LINE ? line : `${characters.slice(0, MAX_LINE - 1).join('')}…`;
}

/**
 * Parses a text that grows from call to call: `read` gets the state left by the previous call, and returns the next state
 * with its result. Any other text is parsed from the start.
 */
export function growing<Reading, Result>(
  beginning: Reading,
  read: (reading: Reading, text: string) => readonly [Reading, Result],
): (text: string) => Result {
  let reading = beginning;
  let before = '';
  return (text) => {
    const [next, result] = read(text.startsWith(before) ? reading : beginning, text);
    reading = next;
    before = text;
    return result;
  };
}

/**
 * Copies a text. A slice keeps its whole source in memory. React keeps the current and previous props of each component, so
 * each piece would retain a different version of the text.
 */
export function ownCopy(slice: string): string {
  return ` ${slice}`.slice(1);
}

/**
 * Reads a text that grows from call to call: `read` gets what was left of the text before, and returns what to go on with
 * beside its result. Any other text is read from its beginning.
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
 * The same text. A slice keeps the whole text in memory that it was taken from; this one has memory of its own. React keeps
 * what each component was given last, and the time before: each piece would keep a text of its own time.
 */
export function ownCopy(slice: string): string {
  return ` ${slice}`.slice(1);
}

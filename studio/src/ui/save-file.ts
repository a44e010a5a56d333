/** Saves text as a file of the reader. */
export function saveFile(name: string, text: string, type: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser reads it after the click has been handled.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Saves a value as a JSON file, `name` without its ending. */
export function saveJson(name: string, value: unknown): void {
  saveFile(`${name}.json`, JSON.stringify(value, null, 2), 'application/json');
}

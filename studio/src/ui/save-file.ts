/** Saves text or bytes as a file of the reader. */
export function saveFile(name: string, content: string | Blob, type: string): void {
  const url = URL.createObjectURL(new Blob([content], { type }));
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

/** Downloads text or bytes as a file. */
export function saveFile(name: string, content: string | Blob, type: string): void {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // Revoked later: the browser reads the URL after the click was handled.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Downloads a value as a JSON file. `name` is without extension. */
export function saveJson(name: string, value: unknown): void {
  saveFile(`${name}.json`, JSON.stringify(value, null, 2), 'application/json');
}

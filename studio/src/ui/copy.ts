/** Copies text. Pages that were not loaded securely, such as over plain HTTP in a network, have no clipboard interface. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'fixed opacity-0';
  document.body.append(area);
  area.select();
  document.execCommand('copy');
  area.remove();
}

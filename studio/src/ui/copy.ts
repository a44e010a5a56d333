/**
 * Copies text. Pages that were not loaded securely, such as over plain HTTP in a network, have no clipboard interface, and a
 * browser may refuse it: the older way is tried then. Rejects if that is refused too.
 */
export async function copyText(text: string): Promise<void> {
  try {
    if (navigator.clipboard) return await navigator.clipboard.writeText(text);
  } catch {
    // See above.
  }
  if (!copySelected(text)) throw new Error('The browser does not let this page copy.');
}

function copySelected(text: string): boolean {
  const focused = document.activeElement;
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'fixed opacity-0';
  // What is behind a dialog can have no selection.
  (focused?.closest('[role=dialog]') ?? document.body).append(area);
  area.select();
  const isCopied = document.execCommand('copy');
  area.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return isCopied;
}

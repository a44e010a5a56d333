/**
 * Copies text. Insecure pages, such as over plain HTTP, have no clipboard interface, and a browser may refuse it. Falls back
 * to the older way, and rejects if that is refused too.
 */
export async function copyText(text: string): Promise<void> {
  try {
    if (navigator.clipboard) return await navigator.clipboard.writeText(text);
  } catch {
    // No clipboard interface, or it refused: use the older way.
  }
  if (!copySelected(text))
    throw new Error('The browser blocked the copy. Select the text and copy it yourself.');
}

function copySelected(text: string): boolean {
  const focused = document.activeElement;
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'fixed opacity-0';
  // Content behind a modal dialog cannot have a selection.
  (focused?.closest('[role=dialog]') ?? document.body).append(area);
  area.select();
  const isCopied = document.execCommand('copy');
  area.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return isCopied;
}

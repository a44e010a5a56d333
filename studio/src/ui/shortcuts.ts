import { useEffect, useRef } from 'react';

/** What keys do, by `KeyboardEvent.key`. */
export type Shortcuts = Readonly<Record<string, (() => void) | undefined>>;

const FIELDS = 'input, textarea, select, [contenteditable="true"], [role="dialog"]';

/** Keys that move go on while they are held down. Any other acts once: what comes next has not been read yet. */
const REPEATED = new Set(['j', 'k']);

/** Keys for the page while nobody writes: not in fields and dialogs, and not together with a modifier. */
export function useShortcuts(shortcuts: Shortcuts, isOn = true): void {
  const latest = useRef(shortcuts);
  useEffect(() => {
    latest.current = shortcuts;
  });
  useEffect(() => {
    if (!isOn) return;
    function onKey(event: KeyboardEvent) {
      const isWriting = event.target instanceof Element && event.target.closest(FIELDS) !== null;
      if (isWriting || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      if (event.repeat && !REPEATED.has(event.key)) return;
      const act = latest.current[event.key];
      if (!act) return;
      event.preventDefault();
      act();
    }
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [isOn]);
}

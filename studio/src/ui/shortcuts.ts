import { useEffect, useRef } from 'react';

/** Shortcuts by `KeyboardEvent.key`. */
export type Shortcuts = Readonly<Record<string, (() => void) | undefined>>;

const FIELDS = 'input, textarea, select, [contenteditable="true"], [role="dialog"]';

/** Navigation keys repeat while held. Others act once: the reader has not seen what comes next. */
const REPEATED = new Set(['j', 'k']);

/** Page shortcuts. Ignored in fields and dialogs, and with a modifier. */
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

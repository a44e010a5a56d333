/** How long a page may be out of sight before it lets go of its streams, ms: looking at another tab for a moment is common. */
const HIDDEN_MS = 20_000;

/** Calls `onHide` when the page has been out of sight for a while, and `onShow` when it is seen again. Returns its end. */
export function watchVisibility(onHide: () => void, onShow: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isAsleep = false;
  function onChange() {
    clearTimeout(timer);
    if (document.visibilityState === 'hidden') {
      timer = setTimeout(() => {
        isAsleep = true;
        onHide();
      }, HIDDEN_MS);
    } else if (isAsleep) {
      isAsleep = false;
      onShow();
    }
  }
  document.addEventListener('visibilitychange', onChange);
  onChange();
  return () => {
    clearTimeout(timer);
    document.removeEventListener('visibilitychange', onChange);
  };
}

/** Resolves at once for a page in sight, else when it is seen again or `signal` aborts. */
export function untilVisible(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    function look() {
      if (document.visibilityState === 'hidden' && !signal.aborted) return;
      document.removeEventListener('visibilitychange', look);
      resolve();
    }
    document.addEventListener('visibilitychange', look);
    signal.addEventListener('abort', look, { once: true });
    look();
  });
}

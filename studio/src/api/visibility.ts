/** How long a page may be hidden before it closes its streams, ms. A quick look at another tab should not close them. */
const HIDDEN_MS = 20_000;

/**
 * Calls `onHide` when the page has been hidden for a while, and `onShow` when it is visible again. Returns a function that
 * stops it.
 */
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

/** Resolves at once if the page is visible, or else when it becomes visible or `signal` aborts. */
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

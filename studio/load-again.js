// Runs before the application. If one of its files does not arrive, as when the computer changes its network in that
// moment, no other code runs and the page would stay empty.
(() => {
  const KEY = 'studio.loads';
  const PAUSES_MS = [200, 1_000, 4_000];

  function failedLoads() {
    try {
      return Number(sessionStorage.getItem(KEY));
    } catch {
      // Without storage nothing ends a series of loads, so there is none.
      return PAUSES_MS.length;
    }
  }

  function remember(loads) {
    try {
      sessionStorage.setItem(KEY, String(loads));
    } catch {
      // See above.
    }
  }

  function explain() {
    const text = document.createElement('p');
    text.setAttribute('role', 'alert');
    text.textContent = 'Studio could not be loaded: the server did not send all of its files. ';
    const link = document.createElement('a');
    link.href = location.href;
    link.textContent = 'Load it again';
    text.append(link);
    document.getElementById('root')?.replaceChildren(text);
  }

  let isFailed = false;
  function onError({ target }) {
    const isNeeded = target instanceof HTMLScriptElement || target?.rel === 'stylesheet';
    if (!isNeeded || isFailed) return;
    isFailed = true;
    const loads = failedLoads();
    const pause = PAUSES_MS[loads];
    if (pause === undefined) {
      remember(0);
      if (document.readyState === 'loading') addEventListener('DOMContentLoaded', explain);
      else explain();
      return;
    }
    remember(loads + 1);
    setTimeout(() => location.reload(), pause);
  }
  addEventListener('error', onError, true);
  // Files of later screens have an answer of their own.
  addEventListener('studio-started', () => {
    removeEventListener('error', onError, true);
    remember(0);
  });
})();

import { useSyncExternalStore } from 'react';

type Theme = 'light' | 'dark' | 'system';

const KEY = 'studio.theme';
const prefersDark = matchMedia('(prefers-color-scheme: dark)');
const listeners = new Set<() => void>();

/** Storage may be disabled. The choice then lasts as long as the page. */
let chosen: Theme = (() => {
  try {
    const saved = localStorage.getItem(KEY);
    return saved === 'light' || saved === 'dark' ? saved : 'system';
  } catch {
    return 'system';
  }
})();

function isDark(): boolean {
  return chosen === 'dark' || (chosen === 'system' && prefersDark.matches);
}

function apply(): void {
  document.documentElement.dataset['theme'] = isDark() ? 'dark' : 'light';
}

/** Call before the first paint. */
export function followTheme(): void {
  apply();
  prefersDark.addEventListener('change', apply);
}

function setTheme(theme: Theme): void {
  chosen = theme;
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // Without storage the choice lasts as long as the page.
  }
  apply();
  for (const each of listeners) each();
}

/** Switches between light and dark. The choice that the system has made needs no memory: from then on it is followed. */
export function toggleTheme(): void {
  const next = isDark() ? 'light' : 'dark';
  setTheme((next === 'dark') === prefersDark.matches ? 'system' : next);
}

/** The theme in effect. */
export function useLook(): 'light' | 'dark' {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      prefersDark.addEventListener('change', listener);
      return () => {
        listeners.delete(listener);
        prefersDark.removeEventListener('change', listener);
      };
    },
    () => (isDark() ? 'dark' : 'light'),
  );
}

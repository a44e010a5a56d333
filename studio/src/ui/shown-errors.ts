import { useEffect } from 'react';

/** Errors currently shown, with the number of components showing each. */
const shown = new Map<unknown, number>();
const listeners = new Set<() => void>();

function change(error: unknown, by: number): void {
  const parts = (shown.get(error) ?? 0) + by;
  if (parts > 0) shown.set(error, parts);
  else shown.delete(error);
  for (const listener of listeners) listener();
}

/** Registers an error as shown while the calling component is mounted. */
export function useShows(error: unknown): void {
  useEffect(() => {
    change(error, 1);
    return () => change(error, -1);
  }, [error]);
}

export function isShown(error: unknown): boolean {
  return shown.has(error);
}

/** Calls `listener` when the shown errors change. Returns the unsubscribe function. */
export function watchShown(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

import { useEffect } from 'react';

/** Errors that a part of the page shows, and by how many parts. */
const shown = new Map<unknown, number>();
const listeners = new Set<() => void>();

function change(error: unknown, by: number): void {
  const parts = (shown.get(error) ?? 0) + by;
  if (parts > 0) shown.set(error, parts);
  else shown.delete(error);
  for (const listener of listeners) listener();
}

/** Says that the calling part of the page shows an error, as long as it does. */
export function useShows(error: unknown): void {
  useEffect(() => {
    change(error, 1);
    return () => change(error, -1);
  }, [error]);
}

export function isShown(error: unknown): boolean {
  return shown.has(error);
}

/** Calls `listener` whenever what is shown changes. Returns its end. */
export function watchShown(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

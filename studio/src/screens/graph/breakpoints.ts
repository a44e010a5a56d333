import { useSyncExternalStore } from 'react';

/** Nodes that runs of an assistant stop at, as the API takes them. */
export interface Breakpoints {
  readonly interrupt_before?: readonly string[];
  readonly interrupt_after?: readonly string[];
}

/** They are the reader's own, for as long as the tab lives: others run the assistant without them. */
const PREFIX = 'studio.breakpoints.';
const NONE: Breakpoints = {};
const ENDS = new Set(['__start__', '__end__']);

/** Runs stop at nodes, not at the ends of a graph. */
export const mayStopAt = (node: string): boolean => !ENDS.has(node.split(':').at(-1) ?? node);
const listeners = new Set<() => void>();
const known = new Map<string, Breakpoints>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Those of an assistant; each time the same object until they change. */
export function breakpointsOf(assistant_id: string): Breakpoints {
  const breakpoints = known.get(assistant_id) ?? saved(assistant_id);
  known.set(assistant_id, breakpoints);
  return breakpoints;
}

/** Storage may be switched off; then they last as long as the page. */
function saved(assistant_id: string): Breakpoints {
  try {
    const text = sessionStorage.getItem(PREFIX + assistant_id);
    return text === null ? NONE : (JSON.parse(text) as Breakpoints);
  } catch {
    return NONE;
  }
}

export function useBreakpoints(assistant_id: string): Breakpoints {
  return useSyncExternalStore(subscribe, () => breakpointsOf(assistant_id));
}

export function setBreakpoints(assistant_id: string, breakpoints: Breakpoints): void {
  known.set(assistant_id, breakpoints);
  try {
    sessionStorage.setItem(PREFIX + assistant_id, JSON.stringify(breakpoints));
  } catch {
    // They then last as long as the page.
  }
  for (const listener of listeners) listener();
}

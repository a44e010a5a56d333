import { useSyncExternalStore } from 'react';

/** Breakpoints of an assistant, in the API's form. */
export interface Breakpoints {
  readonly interrupt_before?: readonly string[];
  readonly interrupt_after?: readonly string[];
}

/** Breakpoints belong to this tab. They do not affect other callers. */
const PREFIX = 'studio.breakpoints.';
const NONE: Breakpoints = {};
const ENDS = new Set(['__start__', '__end__']);

/** Start and end of a graph take no breakpoints. */
export const mayStopAt = (node: string): boolean => !ENDS.has(node.split(':').at(-1) ?? node);
const listeners = new Set<() => void>();
const known = new Map<string, Breakpoints>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The breakpoints of an assistant. The same object until they change. */
export function breakpointsOf(assistant_id: string): Breakpoints {
  const breakpoints = known.get(assistant_id) ?? saved(assistant_id);
  known.set(assistant_id, breakpoints);
  return breakpoints;
}

/** Storage may be disabled. They then last as long as the page. */
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
    // Without storage they last as long as the page.
  }
  for (const listener of listeners) listener();
}

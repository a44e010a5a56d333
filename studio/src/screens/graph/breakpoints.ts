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
const parsed = new Map<string, Breakpoints>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Those of an assistant; each time the same object until they change. */
export function breakpointsOf(assistant_id: string): Breakpoints {
  const text = sessionStorage.getItem(PREFIX + assistant_id);
  if (text === null) return NONE;
  const known = parsed.get(text) ?? (JSON.parse(text) as Breakpoints);
  parsed.set(text, known);
  return known;
}

export function useBreakpoints(assistant_id: string): Breakpoints {
  return useSyncExternalStore(subscribe, () => breakpointsOf(assistant_id));
}

export function setBreakpoints(assistant_id: string, breakpoints: Breakpoints): void {
  sessionStorage.setItem(PREFIX + assistant_id, JSON.stringify(breakpoints));
  for (const listener of listeners) listener();
}

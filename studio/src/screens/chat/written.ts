import {
  type RefObject,
  type SetStateAction,
  useLayoutEffect,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react';
import { onForget } from '../../api/session.ts';
import { newId } from '../../api/values.ts';

/** Drafts, by conversation and field. */
const written = new Map<string, unknown>();
const listeners = new Set<() => void>();
/** Ids of the next threads by assistant, so that a draft keeps its key when its thread is created. */
const nextIds = new Map<string, string>();
/** The last focused field of a conversation, and its selection. */
const focused = new Map<string, Focus>();

onForget(() => {
  for (const each of [written, nextIds, focused]) each.clear();
  for (const listener of listeners) listener();
});

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/**
 * State that outlives its component, so that the draft of a conversation is restored when it is shown again. `initial` is
 * the value before any input.
 */
export function useWritten<Value>(place: string, initial: Value) {
  const [first] = useState(initial);
  const value = useSyncExternalStore(subscribe, () =>
    written.has(place) ? written.get(place) : first,
  ) as Value;
  const write = (next: SetStateAction<Value>) => {
    const before = (written.has(place) ? written.get(place) : first) as Value;
    written.set(place, next instanceof Function ? next(before) : next);
    for (const listener of listeners) listener();
  };
  return [value, write] as const;
}

/** The id of the thread that the next message to an assistant will create. */
export function nextThreadId(assistant_id: string): string {
  const id = nextIds.get(assistant_id) ?? newId();
  nextIds.set(assistant_id, id);
  return id;
}

export function threadBegan(assistant_id: string): void {
  nextIds.delete(assistant_id);
}

interface Focus {
  readonly index: number;
  readonly selection: readonly [number, number] | undefined;
}

/** Keeps focus and selection of a field in the element when the same fields are mounted again. */
export function useKeptFocus(place: string): RefObject<HTMLElement | null> {
  const element = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    const parent = element.current;
    const fields = () => [...(parent?.querySelectorAll<HTMLInputElement>('input, textarea, select') ?? [])];
    const { index = -1, selection } = focused.get(place) ?? {};
    fields()[index]?.focus();
    if (selection) fields()[index]?.setSelectionRange(...selection);
    return () => {
      const index = fields().indexOf(document.activeElement as HTMLInputElement);
      const { selectionStart: start, selectionEnd: end } = fields()[index] ?? {};
      const hasSelection = typeof start === 'number' && typeof end === 'number';
      if (index < 0) focused.delete(place);
      else focused.set(place, { index, selection: hasSelection ? [start, end] : undefined });
    };
  }, [place]);
  return element;
}

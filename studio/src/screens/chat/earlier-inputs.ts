import { type KeyboardEvent, useState } from 'react';
import { onForget } from '../../api/session.ts';

/** Inputs sent to each assistant since the page was loaded, oldest first. */
const sent = new Map<string, string[]>();
onForget(() => sent.clear());

export function remember(assistant_id: string, text: string): void {
  const texts = sent.get(assistant_id) ?? [];
  if (texts.at(-1) !== text) sent.set(assistant_id, [...texts, text]);
}

interface EarlierInputs {
  readonly assistant_id: string;
  /** Human messages of this thread, oldest first. */
  readonly said: readonly string[];
  readonly text: string;
  readonly setText: (text: string) => void;
}

/** ↑ and ↓ browse earlier inputs, as in a shell. An edited text is not replaced. */
export function useEarlierInputs({ assistant_id, said, text, setText }: EarlierInputs) {
  const [back, setBack] = useState(0);
  return (event: KeyboardEvent) => {
    const by = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (by === undefined || event.shiftKey) return;
    // A message with only a picture has no text. An empty entry would make ↑ start over.
    const texts = [...new Set([...said, ...(sent.get(assistant_id) ?? [])])].filter((each) => each !== '');
    const isOne = back > 0 && text === texts.at(-back);
    if (text !== '' && !isOne) return;
    const next = (text === '' ? 0 : back) + by;
    if (next < 0 || next > texts.length) return;
    event.preventDefault();
    setBack(next);
    setText(next === 0 ? '' : (texts.at(-next) ?? ''));
  };
}

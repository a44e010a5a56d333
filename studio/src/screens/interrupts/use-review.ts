import { useState } from 'react';
import { type Draft, draftOf, propertiesLike, valuesOf } from '../../ui/schema-fields.tsx';
import type { Action, Decision, Review } from './review.ts';

/** The reviewer's edits, and the functions that send them. */
export function useReview(review: Review, onAnswer: (value: unknown) => void) {
  const fields = review.actions.map(({ args }) => propertiesLike(args));
  const [drafts, setDrafts] = useState<readonly Draft[]>(() => fields.map((each) => draftOf(each)));
  const [rejected, setRejected] = useState<ReadonlySet<number>>(new Set());
  const [errors, setErrors] = useState<readonly Readonly<Record<string, string>>[]>([]);

  /** Approves with the edits made, except for actions marked as rejected. */
  function approve() {
    const read = fields.map((properties, i) => valuesOf(properties, drafts[i] ?? {}));
    setErrors(read.map((each) => each.errors));
    if (read.some((each) => Object.keys(each.errors).length > 0)) return;
    const decisions = review.actions.map((action, i): Decision => {
      if (rejected.has(i)) return { verdict: 'reject' };
      const args = read[i]?.values ?? {};
      return isChanged(action, args) || !action.allowed.has('approve')
        ? { verdict: 'edit', args }
        : { verdict: 'approve' };
    });
    onAnswer(review.answer(decisions));
  }

  const decide = (decision: Decision) => onAnswer(review.answer(review.actions.map(() => decision)));
  const toggleRejected = (i: number) =>
    setRejected(
      (before) => new Set(before.has(i) ? [...before].filter((each) => each !== i) : [...before, i]),
    );
  const setDraft = (i: number, draft: Draft) => setDrafts((before) => before.with(i, draft));
  return { fields, drafts, errors, rejected, approve, decide, toggleRejected, setDraft };
}

function isChanged({ args }: Action, values: object): boolean {
  return JSON.stringify(args) !== JSON.stringify(values);
}

import { Button } from '../../ui/button.tsx';
import { KeyHint } from '../../ui/key-hint.tsx';
import { Card } from '../../ui/page.tsx';
import { useShortcuts } from '../../ui/shortcuts.ts';
import { refusalOf, type useAnswers } from '../interrupts/answer.ts';
import { type Decision, reviewOf } from '../interrupts/review.ts';
import type { Waiting } from './inbox-query.ts';

interface BulkProps {
  readonly marked: readonly Waiting[];
  readonly answers: ReturnType<typeof useAnswers>;
  readonly onDone: () => void;
}

/** Decides all marked questions at once, if each allows the decision. */
export function Bulk({ marked, answers, onDone }: BulkProps) {
  const { isPending } = answers;
  const decide = (verdict: 'approve' | 'reject') => () =>
    answers.mutate(answersTo(marked, { verdict }), { onSuccess: onDone });
  const can = (verdict: 'approve' | 'reject') =>
    !isPending && marked.every((each) => isOpenTo(each, verdict));
  const approve = can('approve') ? decide('approve') : undefined;
  const reject = can('reject') ? decide('reject') : undefined;
  useShortcuts({ a: approve, r: reject, Escape: onDone });
  const [refusal] = marked.flatMap((each) => refusalOf(answers, each.thread_id, each.interrupt_id) ?? []);
  return (
    <Card className="flex flex-col gap-3 p-4">
      <h2 className="font-semibold">{marked.length} marked</h2>
      {!approve && !reject && !isPending && (
        <p className="text-ink-2">
          Some of these questions need an individual answer. Unmark them to decide the others together.
        </p>
      )}
      <div className="flex flex-wrap gap-2">
        <Button look="primary" disabled={!approve} onClick={approve}>
          Approve all <KeyHint>A</KeyHint>
        </Button>
        <Button disabled={!reject} onClick={reject}>
          Reject all <KeyHint>R</KeyHint>
        </Button>
        <Button look="quiet" onClick={onDone}>
          Unmark <KeyHint>Esc</KeyHint>
        </Button>
      </div>
      {refusal && (
        <p role="alert" className="text-err">
          {refusal.message}
        </p>
      )}
    </Card>
  );
}

function isOpenTo({ value, assistant_id }: Waiting, verdict: 'approve' | 'reject'): boolean {
  const review = assistant_id === null ? undefined : reviewOf(value);
  return review?.actions.every(({ allowed }) => allowed.has(verdict)) ?? false;
}

/** Groups the answers by thread: one run answers all questions of a thread. */
function answersTo(marked: readonly Waiting[], decision: Decision) {
  return [...Map.groupBy(marked, ({ thread_id }) => thread_id)].map(([thread_id, asked]) => ({
    thread_id,
    assistant_id: asked[0]?.assistant_id ?? '',
    answers: Object.fromEntries(
      asked.map(({ interrupt_id, value }) => {
        const review = reviewOf(value);
        return [interrupt_id, review?.answer(review.actions.map(() => decision))];
      }),
    ),
  }));
}

import { type RefObject, useRef, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { TextInput } from '../../ui/fields.tsx';
import { KeyHint } from '../../ui/key-hint.tsx';
import { SchemaFields } from '../../ui/schema-fields.tsx';
import { useShortcuts } from '../../ui/shortcuts.ts';
import type { AnswerProps, Review } from './review.ts';
import { useReview } from './use-review.ts';

type Form = ReturnType<typeof useReview>;
type Question = 'reject' | 'respond';

/** Approves, edits, rejects or responds to the actions that an agent requests. */
export function ReviewForm({
  review,
  hasKeys,
  isDisabled,
  onAnswer,
  onJson,
}: AnswerProps & { review: Review }) {
  const form = useReview(review, onAnswer);
  const [question, setQuestion] = useState<Question>();
  const fieldset = useRef<HTMLFieldSetElement>(null);
  const can = (verdict: 'approve' | 'edit' | 'reject' | 'respond') =>
    review.actions.every(({ allowed }) => allowed.has(verdict));
  const canApprove = can('approve') || can('edit');
  const reject = () => (review.takes_reason ? setQuestion('reject') : form.decide({ verdict: 'reject' }));
  useShortcuts(
    {
      a: canApprove ? form.approve : undefined,
      e: can('edit') ? () => focusFirst(fieldset) : undefined,
      r: can('reject') ? reject : undefined,
      w: can('respond') ? () => setQuestion('respond') : undefined,
    },
    hasKeys && !isDisabled,
  );
  return (
    <>
      <fieldset ref={fieldset} disabled={isDisabled} className="flex min-w-0 flex-col gap-4">
        <legend className="sr-only">Actions to review</legend>
        <Actions review={review} form={form} />
      </fieldset>
      {question ? (
        <Words
          question={question}
          isDisabled={isDisabled}
          onClose={() => setQuestion(undefined)}
          onSend={(message) => form.decide({ verdict: question, message })}
        />
      ) : (
        <div className="flex flex-wrap items-center gap-2">
          {canApprove && (
            <Button look="primary" disabled={isDisabled} onClick={form.approve}>
              {form.rejected.size > 0 ? 'Send decisions' : 'Approve'} {hasKeys && <KeyHint>A</KeyHint>}
            </Button>
          )}
          {can('edit') && (
            <Button disabled={isDisabled} onClick={() => focusFirst(fieldset)}>
              Edit {hasKeys && <KeyHint>E</KeyHint>}
            </Button>
          )}
          {can('reject') && (
            <Button disabled={isDisabled} onClick={reject}>
              Reject {hasKeys && <KeyHint>R</KeyHint>}
            </Button>
          )}
          {can('respond') && (
            <Button disabled={isDisabled} onClick={() => setQuestion('respond')}>
              Write back {hasKeys && <KeyHint>W</KeyHint>}
            </Button>
          )}
          <Button look="quiet" disabled={isDisabled} onClick={onJson}>
            Answer as JSON
          </Button>
        </div>
      )}
    </>
  );
}

function focusFirst(container: RefObject<HTMLElement | null>): void {
  container.current?.querySelector<HTMLElement>('input:not([type="checkbox"]), textarea, select')?.focus();
}

function Actions({ review: { actions }, form }: { review: Review; form: Form }) {
  return actions.map(({ name, description, allowed }, i) => (
    // Actions of a request have no identity but their position.
    // biome-ignore lint/suspicious/noArrayIndexKey: see above
    <section key={i} aria-label={name} className="flex min-w-0 flex-col gap-2.5">
      {actions.length > 1 && (
        <div className="flex items-center gap-3">
          <h3 className="font-medium">{name}</h3>
          {allowed.has('reject') && (
            <label className="ml-auto flex items-center gap-1.5 text-xs text-ink-2">
              <input type="checkbox" checked={form.rejected.has(i)} onChange={() => form.toggleRejected(i)} />
              Reject this call
            </label>
          )}
        </div>
      )}
      {description !== '' && !repeatsArguments(description) && (
        <p className="max-w-prose break-words whitespace-pre-wrap text-ink-2">{description}</p>
      )}
      <SchemaFields
        properties={form.fields[i] ?? []}
        draft={form.drafts[i] ?? {}}
        errors={form.errors[i] ?? {}}
        disabled={!allowed.has('edit') || form.rejected.has(i)}
        onChange={(draft) => form.setDraft(i, draft)}
      />
    </section>
  ));
}

/** Many graphs append the arguments as JSON. The fields already show them. */
function repeatsArguments(description: string): boolean {
  return /\n\s*(Args:|\{)/.test(description);
}

interface WordsProps {
  readonly question: Question;
  readonly isDisabled: boolean;
  readonly onClose: () => void;
  readonly onSend: (message: string) => void;
}

function Words({ question, isDisabled, onClose, onSend }: WordsProps) {
  const [text, setText] = useState('');
  const isOptional = question === 'reject';
  const label = isOptional ? 'Reason (optional)' : 'Message to the agent';
  return (
    <form
      className="flex flex-wrap gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        onSend(text);
      }}
      onKeyDown={({ key }) => key === 'Escape' && onClose()}
    >
      <TextInput
        autoFocus
        className="min-w-40 flex-1"
        aria-label={label}
        placeholder={label}
        required={!isOptional}
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      <Button type="submit" look="primary" disabled={isDisabled}>
        {isOptional ? 'Reject' : 'Send'} <KeyHint>⏎</KeyHint>
      </Button>
      <Button onClick={onClose}>Back</Button>
    </form>
  );
}

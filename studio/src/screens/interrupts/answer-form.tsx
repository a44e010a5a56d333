import { type KeyboardEvent, type ReactNode, useState } from 'react';
import { isObject, typedValue } from '../../api/values.ts';
import { Button } from '../../ui/button.tsx';
import { Field, focusFirstField, TextArea } from '../../ui/fields.tsx';
import { Json } from '../../ui/json.tsx';
import { KeyHint } from '../../ui/key-hint.tsx';
import { draftOf, type Property, propertiesOf, SchemaFields, valuesOf } from '../../ui/schema-fields.tsx';
import { useShortcuts } from '../../ui/shortcuts.ts';
import { ChoiceForm } from './choice-form.tsx';
import { choicesOf } from './choices.ts';
import { type AnswerProps, type Asked, questionOf, reviewOf } from './review.ts';
import { ReviewForm } from './review-form.tsx';

interface AnswerFormProps extends Omit<AnswerProps, 'onJson'> {
  readonly asked: Asked;
  readonly error: Error | null;
  /** Shown at the right of the title, such as its age. */
  readonly beside?: ReactNode;
}

/** A question of a graph with its answer form. Use the interrupt id as `key`. */
export function AnswerForm({ asked, error, beside, ...props }: AnswerFormProps) {
  return (
    <section
      aria-label="Question from the agent"
      onKeyDown={leaveField}
      className="flex min-w-0 flex-col gap-4 rounded-[10px] border border-wait bg-wait-bg p-4"
    >
      <header className="flex flex-wrap items-baseline gap-x-3">
        <h2 className="min-w-0 font-semibold break-words">{titleOf(asked.value)}</h2>
        <p className="ml-auto text-xs text-ink-2">{beside}</p>
      </header>
      <Fields asked={asked} {...props} />
      {error && (
        <p role="alert" className="text-err">
          {error.message}
        </p>
      )}
    </section>
  );
}

function titleOf(value: unknown): string {
  const review = reviewOf(value);
  if (!review) return questionOf(value);
  return review.actions.length === 1
    ? `Allow the call to ${review.actions[0]?.name}?`
    : `Allow these ${review.actions.length} calls?`;
}

/** Escape leaves the field, so that shortcuts work again. */
function leaveField({ key, target }: KeyboardEvent): void {
  if (key === 'Escape' && target instanceof HTMLElement) target.blur();
}

function Fields({ asked, ...props }: { asked: Asked } & Omit<AnswerProps, 'onJson'>) {
  const [isJson, setJson] = useState(false);
  const review = reviewOf(asked.value);
  // The graph may also put the schema next to its question.
  const { schema } = isObject(asked.value) ? asked.value : {};
  const properties = propertiesOf(asked.response_schema ?? schema);
  const onJson = () => setJson(true);
  if (review && !isJson) return <ReviewForm review={review} {...props} onJson={onJson} />;
  const choices = properties ? undefined : choicesOf(asked.value);
  if (choices && !isJson) return <ChoiceForm choices={choices} {...props} onJson={onJson} />;
  return (
    <>
      {(review || (!schema && isDetailed(asked.value))) && <Json value={asked.value} label="Question" />}
      {properties && !isJson ? (
        <SchemaAnswer properties={properties} {...props} onJson={onJson} />
      ) : (
        <FreeAnswer {...props} />
      )}
    </>
  );
}

/** Whether the title omits part of the value. */
function isDetailed(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !(isObject(value) && Object.keys(value).length === 1);
}

/** Fields from the answer's schema. */
function SchemaAnswer({
  properties,
  hasKeys,
  isDisabled,
  onAnswer,
  onJson,
}: AnswerProps & { properties: readonly Property[] }) {
  const [draft, setDraft] = useState(() => draftOf(properties));
  const [errors, setErrors] = useState<Readonly<Record<string, string>>>({});
  const [form, setForm] = useState<HTMLFormElement | null>(null);
  useShortcuts({ e: () => focusFirstField(form) }, hasKeys && !isDisabled);
  function send() {
    const read = valuesOf(properties, draft);
    setErrors(read.errors);
    if (Object.keys(read.errors).length === 0) onAnswer(read.values);
  }
  return (
    <form
      ref={setForm}
      className="flex flex-col gap-2.5"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
      onKeyDown={(event) => {
        if (!isSend(event)) return;
        event.preventDefault();
        send();
      }}
    >
      <SchemaFields {...{ properties, draft, errors }} disabled={isDisabled} onChange={setDraft} />
      <div className="flex flex-wrap gap-2 pt-1">
        <Button type="submit" look="primary" disabled={isDisabled}>
          Answer <KeyHint>⏎</KeyHint>
        </Button>
        {hasKeys && (
          <Button disabled={isDisabled} onClick={() => focusFirstField(form)}>
            Edit <KeyHint>E</KeyHint>
          </Button>
        )}
        <Button look="quiet" disabled={isDisabled} onClick={onJson}>
          Answer as JSON
        </Button>
      </div>
    </form>
  );
}

/** A free answer: JSON if it parses, or else plain text. */
function FreeAnswer({ hasKeys, isDisabled, onAnswer }: Omit<AnswerProps, 'onJson'>) {
  const [text, setText] = useState('');
  const [field, setField] = useState<HTMLTextAreaElement | null>(null);
  useShortcuts({ e: () => field?.focus() }, hasKeys && !isDisabled);
  const { value, isJson } = typedValue(text);
  const isEmpty = text.trim() === '';
  const send = () => !isEmpty && !isDisabled && onAnswer(value);
  return (
    <div className="flex flex-col gap-2.5">
      <Field label={isEmpty ? 'Answer (text or JSON)' : `Answer (sent as ${isJson ? 'JSON' : 'text'})`}>
        <TextArea
          ref={setField}
          rows={Math.min(12, Math.max(2, text.split('\n').length))}
          disabled={isDisabled}
          value={text}
          onChange={({ target }) => setText(target.value)}
          onKeyDown={(event) => {
            if (!isSend(event)) return;
            event.preventDefault();
            send();
          }}
        />
      </Field>
      <div className="flex flex-wrap items-center gap-2">
        <Button look="primary" disabled={isDisabled || isEmpty} onClick={send}>
          Answer <KeyHint>⏎</KeyHint>
        </Button>
        {hasKeys && (
          <Button disabled={isDisabled} onClick={() => field?.focus()}>
            Write <KeyHint>E</KeyHint>
          </Button>
        )}
      </div>
    </div>
  );
}

/** Enter sends, Shift+Enter starts a new line. Ignored during IME composition. */
function isSend({ key, shiftKey, nativeEvent, target }: KeyboardEvent): boolean {
  return key === 'Enter' && !shiftKey && !nativeEvent.isComposing && target instanceof HTMLTextAreaElement;
}

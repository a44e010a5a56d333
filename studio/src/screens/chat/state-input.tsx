import { type KeyboardEvent, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Field, focusFirstField, TextArea } from '../../ui/fields.tsx';
import { count, plural } from '../../ui/format.tsx';
import { KeyHint } from '../../ui/key-hint.tsx';
import { type Draft, type Property, SchemaFields, valuesOf } from '../../ui/schema-fields.tsx';
import { Frame } from './composer.tsx';
import { remember, useEarlierInputs } from './earlier-inputs.ts';
import { useWrittenInput } from './written-input.tsx';

interface StateInputProps {
  readonly assistant_id: string;
  /** Key of the conversation that the input belongs to. */
  readonly place: string;
  /** JSON Schema of the input. Unknown for some graphs. */
  readonly schema: unknown;
  /** Sending is disabled, typing is not. */
  readonly isDisabled: boolean;
  readonly onSend: (input: unknown) => void;
  readonly onStop: (() => void) | undefined;
  /** Switches back to the message box. */
  readonly onMessage: (() => void) | undefined;
  /** Whether the keyboard writes into the first field at once. */
  readonly hasFocus?: boolean;
}

/** Input for a graph whose state is more than messages: fields from its schema, or JSON. */
export function StateInput(props: StateInputProps) {
  const { assistant_id, place, schema, isDisabled, onSend, onStop, onMessage, hasFocus } = props;
  const { fields, draft, setDraft, json, setJson, jsonSwitch } = useWrittenInput(place, schema);
  const [errors, setErrors] = useState<Readonly<Record<string, string>>>({});
  const goThrough = useEarlierInputs({ assistant_id, said: [], text: json, setText: setJson });
  function send() {
    if (isDisabled) return;
    const read = fields ? valuesOf(fields, draft) : jsonInput(json);
    setErrors(read.errors);
    if (Object.keys(read.errors).length > 0) return;
    remember(assistant_id, JSON.stringify(read.values));
    onSend(read.values);
  }
  function onKeyDown(event: KeyboardEvent) {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    send();
  }
  return (
    <Frame place={place}>
      <form
        ref={hasFocus ? focusFirstField : undefined}
        className="flex max-h-[40vh] flex-col gap-2.5 overflow-auto p-0.5"
        onKeyDown={onKeyDown}
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
      >
        {fields ? (
          <InputFields fields={fields} {...{ draft, errors }} onChange={setDraft} />
        ) : (
          <Field label="Input as JSON" error={errors['']}>
            <TextArea
              className="field-sizing-content max-h-60 min-h-16 font-mono text-xs"
              spellCheck={false}
              value={json}
              onKeyDown={goThrough}
              onChange={({ target }) => setJson(target.value)}
            />
          </Field>
        )}
        <button type="submit" hidden disabled={isDisabled} />
      </form>
      <div className="flex items-center gap-2">
        {jsonSwitch}
        {onMessage && (
          <Button look="quiet" onClick={onMessage}>
            Write a message
          </Button>
        )}
        <div className="ml-auto flex gap-2">
          {onStop && <Button onClick={onStop}>Stop</Button>}
          <Button look="primary" disabled={isDisabled} onClick={send}>
            Run <KeyHint>Ctrl ⏎</KeyHint>
          </Button>
        </div>
      </div>
    </Frame>
  );
}

interface InputFieldsProps {
  readonly fields: readonly Property[];
  readonly draft: Draft;
  readonly errors: Readonly<Record<string, string>>;
  readonly onChange: (draft: Draft) => void;
}

/** What the graph needs, and the rest folded, unless something is wrong there. */
function InputFields({ fields, draft, errors, onChange }: InputFieldsProps) {
  const [isOpen, setOpen] = useState(false);
  const [first, rest] = firstFields(fields);
  const hasError = rest.some(({ name }) => errors[name] !== undefined);
  const common = { draft, errors, onChange };
  return (
    <>
      <SchemaFields properties={first} {...common} />
      {rest.length > 0 && (
        <details
          open={isOpen || hasError}
          onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
          className="flex flex-col"
        >
          <summary className="w-fit py-1 text-ink-2">
            {count(rest.length)} more {plural(rest.length, 'field')}
          </summary>
          <div className="flex flex-col gap-2.5 pt-1">
            <SchemaFields properties={rest} {...common} />
          </div>
        </details>
      )}
    </>
  );
}

/**
 * The required fields first. Many graphs require none: there, lists and objects that have a default need not be written.
 */
function firstFields(fields: readonly Property[]): [first: readonly Property[], rest: readonly Property[]] {
  const isFirst = fields.some(({ isRequired }) => isRequired)
    ? ({ isRequired }: Property) => isRequired
    : ({ kind, initial }: Property) => kind !== 'json' || initial === undefined;
  const first = fields.filter(isFirst);
  return first.length === 0 ? [fields, []] : [first, fields.filter((field) => !isFirst(field))];
}

function jsonInput(text: string): { values: unknown; errors: Readonly<Record<string, string>> } {
  try {
    return { values: JSON.parse(text), errors: {} };
  } catch (error) {
    return { values: undefined, errors: { '': `Invalid JSON: ${(error as Error).message}` } };
  }
}

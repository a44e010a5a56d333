import { type KeyboardEvent, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Field, TextArea } from '../../ui/fields.tsx';
import { KeyHint } from '../../ui/key-hint.tsx';
import { SchemaFields, valuesOf } from '../../ui/schema-fields.tsx';
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
}

/** Input for a graph whose state is more than messages: fields from its schema, or JSON. */
export function StateInput(props: StateInputProps) {
  const { assistant_id, place, schema, isDisabled, onSend, onStop, onMessage } = props;
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
        className="flex max-h-[40vh] flex-col gap-2.5 overflow-auto p-0.5"
        onKeyDown={onKeyDown}
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
      >
        {fields ? (
          <SchemaFields properties={fields} {...{ draft, errors }} onChange={setDraft} />
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

function jsonInput(text: string): { values: unknown; errors: Readonly<Record<string, string>> } {
  try {
    return { values: JSON.parse(text), errors: {} };
  } catch (error) {
    return { values: undefined, errors: { '': `Invalid JSON: ${(error as Error).message}` } };
  }
}

import { type KeyboardEvent, useState } from 'react';
import type { JsonObject } from '../../api/values.ts';
import { Button } from '../../ui/button.tsx';
import { JsonField, typedJson } from '../../ui/json-field.tsx';
import { KeyHint } from '../../ui/key-hint.tsx';
import { SchemaFields, valuesOf } from '../../ui/schema-fields.tsx';
import { useWrittenInput } from '../chat/written-input.tsx';

interface RunNodeFormProps {
  /** Key of the draft, which is restored when the form is shown again. */
  readonly place: string;
  /** JSON Schema of the input. Unknown for some. */
  readonly schema: unknown;
  readonly initial: JsonObject;
  /** Sending is disabled, typing is not. */
  readonly isDisabled: boolean;
  readonly onSend: (input: unknown) => void;
}

/** Edits an input as fields of its schema, or as JSON. */
export function RunNodeForm({ place, schema, initial, isDisabled, onSend }: RunNodeFormProps) {
  const { fields, draft, setDraft, json, setJson, jsonSwitch } = useWrittenInput(place, schema, initial);
  const [errors, setErrors] = useState<Readonly<Record<string, string>>>({});
  const typed = typedJson(json);
  function send() {
    if (isDisabled || (!fields && typed.error !== undefined)) return;
    const read = fields ? valuesOf(fields, draft) : { values: typed.value, errors: {} };
    setErrors(read.errors);
    if (Object.keys(read.errors).length === 0) onSend(read.values);
  }
  function onKeyDown(event: KeyboardEvent) {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    send();
  }
  return (
    <form
      className="flex flex-col gap-2.5"
      onKeyDown={onKeyDown}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      {fields ? (
        <SchemaFields properties={fields} {...{ draft, errors }} onChange={setDraft} />
      ) : (
        <JsonField label="Input as JSON" text={json} onChange={setJson} />
      )}
      <div className="flex items-center gap-2">
        {jsonSwitch}
        <Button type="submit" look="primary" className="ml-auto" disabled={isDisabled}>
          Run <KeyHint>Ctrl ⏎</KeyHint>
        </Button>
      </div>
    </form>
  );
}

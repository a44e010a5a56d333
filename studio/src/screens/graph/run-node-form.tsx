import { type KeyboardEvent, useState } from 'react';
import type { JsonObject } from '../../api/values.ts';
import { Button } from '../../ui/button.tsx';
import { JsonField, typedJson } from '../../ui/json-field.tsx';
import { KeyHint } from '../../ui/key-hint.tsx';
import { draftOf, propertiesOf, SchemaFields, valuesOf } from '../../ui/schema-fields.tsx';
import { useWritten } from '../chat/written.ts';

interface RunNodeFormProps {
  /** Names what is being written, which is there when the form is shown again. */
  readonly place: string;
  /** JSON Schema of the input; unknown for some. */
  readonly schema: unknown;
  readonly initial: JsonObject;
  /** Nothing can be sent now; it can be written. */
  readonly isDisabled: boolean;
  readonly onSend: (input: unknown) => void;
}

/** An input as fields of its schema, or as JSON. */
export function RunNodeForm({ place, schema, initial, isDisabled, onSend }: RunNodeFormProps) {
  const properties = propertiesOf(schema);
  const [isRaw, setRaw] = useWritten(`${place} raw`, properties === undefined);
  const [draft, setDraft] = useWritten(`${place} fields`, draftOf(properties ?? [], initial));
  const [json, setJson] = useWritten(`${place} json`, JSON.stringify(initial, null, 2));
  const [errors, setErrors] = useState<Readonly<Record<string, string>>>({});
  const isForm = properties !== undefined && !isRaw;
  const typed = typedJson(json);
  function send() {
    if (isDisabled || (!isForm && typed.error !== undefined)) return;
    const read = isForm ? valuesOf(properties, draft) : { values: typed.value, errors: {} };
    setErrors(read.errors);
    if (Object.keys(read.errors).length === 0) onSend(read.values);
  }
  function toggle() {
    if (properties && isForm) setJson(JSON.stringify(valuesOf(properties, draft).values, null, 2));
    setRaw(!isRaw);
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
      {isForm ? (
        <SchemaFields {...{ properties, draft, errors }} onChange={setDraft} />
      ) : (
        <JsonField label="Input as JSON" text={json} onChange={setJson} />
      )}
      <div className="flex items-center gap-2">
        {properties && (
          <Button look="quiet" className="-ml-2.5" onClick={toggle}>
            {isForm ? 'As JSON' : 'As form'}
          </Button>
        )}
        <Button type="submit" look="primary" className="ml-auto" disabled={isDisabled}>
          Run <KeyHint>Ctrl ⏎</KeyHint>
        </Button>
      </div>
    </form>
  );
}

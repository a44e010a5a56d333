import { isObject, type JsonObject } from '../../api/values.ts';
import { Button } from '../../ui/button.tsx';
import { typedJson } from '../../ui/json-field.tsx';
import { draftOf, propertiesOf, valuesOf } from '../../ui/schema-fields.tsx';
import { useWritten } from './written.ts';

/**
 * The draft of an input: as fields of its JSON Schema, or as JSON if preferred or if the schema has no fields. `place` is
 * its key, so that the draft is restored when it is shown again.
 */
export function useWrittenInput(place: string, schema: unknown, initial?: JsonObject) {
  const properties = propertiesOf(schema);
  const [isRaw, setRaw] = useWritten(`${place} raw`, properties === undefined);
  const [draft, setDraft] = useWritten(`${place} fields`, draftOf(properties ?? [], initial));
  const [json, setJson] = useWritten(`${place} json`, initial ? JSON.stringify(initial, null, 2) : '');
  /** `undefined` while editing as JSON. */
  const fields = isRaw ? undefined : properties;
  function toggle() {
    if (fields) setJson(JSON.stringify(valuesOf(fields, draft).values, null, 2));
    else setDraft({ ...draft, ...draftOfJson() });
    setRaw(!isRaw);
  }
  function draftOfJson() {
    const { value } = typedJson(json);
    return isObject(value) ? draftOf(properties?.filter(({ name }) => name in value) ?? [], value) : {};
  }
  return {
    fields,
    draft,
    setDraft,
    json,
    setJson,
    /** Switches between form and JSON and keeps the input. Nothing if there are no fields. */
    jsonSwitch: properties && (
      <Button look="quiet" className="-ml-2.5" onClick={toggle}>
        {fields ? 'As JSON' : 'As form'}
      </Button>
    ),
  };
}

import { isObject, type JsonObject } from '../../api/values.ts';
import { Field, Select, TextArea, TextInput } from '../../ui/fields.tsx';

interface SchemaFormProps {
  /** JSON Schema of an object. */
  readonly schema: JsonObject;
  /** Root schema, for resolving references. */
  readonly root?: JsonObject;
  readonly value: JsonObject;
  readonly onChange: (value: JsonObject) => void;
}

/**
 * Fields for the common types: text, numbers, choices, lists of texts, and objects of these. An emptied field is left out of
 * the value, so that the graph's default applies. Values without a field are kept.
 */
export function SchemaForm({ schema, root = schema, value, onChange }: SchemaFormProps) {
  const properties = isObject(schema['properties']) ? Object.entries(schema['properties']) : [];
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  return properties.map(([name, each]) => (
    <Property
      key={name}
      name={name}
      schema={resolved(each, root)}
      root={root}
      isRequired={required.includes(name)}
      value={value[name]}
      onChange={(next) => onChange(replaced(value, name, next))}
    />
  ));
}

function replaced(value: JsonObject, name: string, next: unknown): JsonObject {
  const { [name]: _, ...others } = value;
  if (next === undefined) return others;
  return name in value ? { ...value, [name]: next } : { ...others, [name]: next };
}

/** Resolves a reference, and picks the type besides `null`. */
function resolved(schema: unknown, root: JsonObject): JsonObject {
  if (!isObject(schema)) return {};
  const { $ref: reference, anyOf: choices } = schema;
  if (typeof reference === 'string' && reference.startsWith('#/')) {
    const path = reference.slice(2).split('/');
    const found = path.reduce<unknown>((at, key) => (isObject(at) ? at[key] : undefined), root);
    return isObject(found) && found['$ref'] === undefined ? { ...found, ...schema } : {};
  }
  if (Array.isArray(choices)) {
    const [only, ...others] = choices.filter((each) => !isObject(each) || each['type'] !== 'null');
    if (others.length === 0 && isObject(only)) return { ...only, ...schema };
  }
  return schema;
}

interface PropertyProps {
  readonly name: string;
  readonly schema: JsonObject;
  readonly root: JsonObject;
  readonly isRequired: boolean;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
}

function Property({ name, schema, root, isRequired, value, onChange }: PropertyProps) {
  const { title, description } = schema;
  const label = typeof title === 'string' ? title : name;
  const hint = typeof description === 'string' ? description : '';
  if (isObject(schema['properties'])) {
    return (
      <fieldset className="flex flex-col gap-3 border-l-2 border-line pl-3">
        <legend className="text-xs text-ink-2">{label}</legend>
        <SchemaForm schema={schema} root={root} value={isObject(value) ? value : {}} onChange={onChange} />
      </fieldset>
    );
  }
  const hasDefault = schema['default'] !== undefined;
  return (
    <Field
      label={`${label}${isRequired && !hasDefault ? ' (required)' : ''}${hint === '' ? '' : `: ${hint}`}`}
    >
      <Control schema={schema} value={value} onChange={onChange} />
    </Field>
  );
}

/** Texts of this length get a multi-line field, characters. */
const LONG = 60;

type ControlProps = Pick<PropertyProps, 'schema' | 'value' | 'onChange'>;

function Control({ schema, value, onChange }: ControlProps) {
  const { type, enum: choices, items, default: initial } = schema;
  const placeholder = initial === undefined ? '' : String(initial);
  const kind = [type].flat().filter((each) => each !== 'null')[0];
  if (Array.isArray(choices)) return <Choice {...{ choices, value, initial, onChange }} />;
  if (kind === 'boolean') return <Choice choices={[true, false]} {...{ value, initial, onChange }} />;
  if (kind === 'number' || kind === 'integer') {
    return (
      <TextInput
        type="number"
        step={kind === 'integer' ? 1 : 'any'}
        placeholder={placeholder}
        value={typeof value === 'number' ? value : ''}
        onChange={({ target }) => onChange(target.value === '' ? undefined : Number(target.value))}
      />
    );
  }
  if (kind === 'array' && isObject(items) && items['type'] === 'string') {
    return <Lines value={value} onChange={onChange} />;
  }
  if (kind !== 'string') return <p className="text-ink-3">Edit this field as JSON.</p>;
  const text = typeof value === 'string' ? value : '';
  const onText = ({ target }: { target: { value: string } }) =>
    onChange(target.value === '' ? undefined : target.value);
  return text.length > LONG || text.includes('\n') || placeholder.length > LONG ? (
    <TextArea rows={4} placeholder={placeholder} value={text} onChange={onText} />
  ) : (
    <TextInput placeholder={placeholder} value={text} onChange={onText} />
  );
}

interface ChoiceProps {
  readonly choices: readonly unknown[];
  readonly value: unknown;
  readonly initial: unknown;
  readonly onChange: (value: unknown) => void;
}

function Choice({ choices, value, initial, onChange }: ChoiceProps) {
  const texts = choices.map((each) => JSON.stringify(each));
  const words = (each: unknown) => (typeof each === 'boolean' ? (each ? 'yes' : 'no') : String(each));
  return (
    <Select
      value={value === undefined ? '' : JSON.stringify(value)}
      onChange={({ target }) => onChange(choices[texts.indexOf(target.value)])}
      options={[
        ['', initial === undefined ? 'Not set' : `Default: ${words(initial)}`],
        ...choices.map((each, i) => [texts[i] ?? '', words(each)] as const),
      ]}
    />
  );
}

function Lines({ value, onChange }: Omit<ControlProps, 'schema'>) {
  const lines = Array.isArray(value) ? value.map(String) : [];
  return (
    <TextArea
      rows={Math.min(10, Math.max(3, lines.length + 1))}
      placeholder="One per line"
      value={lines.join('\n')}
      onChange={({ target }) => onChange(target.value === '' ? undefined : target.value.split('\n'))}
    />
  );
}

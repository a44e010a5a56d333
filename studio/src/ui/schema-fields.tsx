import { isObject, type JsonObject } from '../api/values.ts';
import { Field, Select, TextArea, TextInput } from './fields.tsx';
import { exampleOf, typeInWords } from './schema-words.ts';

/** The typed values by property. `valuesOf` parses numbers and JSON. */
export type Draft = Readonly<Record<string, string | boolean>>;

type Kind = 'text' | 'number' | 'boolean' | 'choice' | 'json';

export interface Property {
  readonly name: string;
  readonly label: string;
  readonly kind: Kind;
  /** Options of the kind `choice`, with their types: numbers stay numbers. */
  readonly choices: readonly unknown[];
  readonly hint: string;
  /** Its type in words, such as `list of texts`; empty if unknown. */
  readonly type: string;
  /** Such as `[{"role":"user","content":"Hello!"}]`; empty without one. */
  readonly example: string;
  readonly isRequired: boolean;
  readonly initial: unknown;
}

/** The fields of an object schema. `undefined` if the schema is not an object with known properties. */
export function propertiesOf(schema: unknown): readonly Property[] | undefined {
  if (!isObject(schema) || !isObject(schema['properties'])) return undefined;
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const properties = Object.entries(schema['properties']).map(([name, each]): Property => {
    const property = isObject(each) ? each : {};
    const choices = Array.isArray(property['enum']) ? property['enum'] : [];
    return {
      name,
      label: typeof property['title'] === 'string' ? property['title'] : nameToRead(name),
      kind: kindOf(property, choices),
      choices,
      hint: typeof property['description'] === 'string' ? property['description'] : '',
      type: typeInWords(property),
      example: exampleOf(property),
      isRequired: required.includes(name),
      initial: property['default'],
    };
  });
  return properties.length > 0 ? properties : undefined;
}

/** Fields for a value without a schema, such as tool arguments. */
export function propertiesLike(value: JsonObject): readonly Property[] {
  return Object.entries(value).map(([name, initial]) => ({
    name,
    label: nameToRead(name),
    kind: kindLike(initial),
    choices: [],
    hint: '',
    type: '',
    example: '',
    isRequired: true,
    initial,
  }));
}

/** `due_date` as `Due date`. */
function nameToRead(name: string): string {
  const words = name.replace(/_/g, ' ').replace(/([a-z])([A-Z])/g, '$1 $2');
  return words.charAt(0).toUpperCase() + words.slice(1).toLowerCase();
}

function kindOf(property: JsonObject, choices: readonly unknown[]): Kind {
  const types = [property['type']].flat().filter((type) => type !== 'null');
  if (choices.length > 0) return 'choice';
  if (types.length !== 1) return 'json';
  const kinds: Readonly<Record<string, Kind>> = {
    string: 'text',
    number: 'number',
    integer: 'number',
    boolean: 'boolean',
  };
  return kinds[String(types[0])] ?? 'json';
}

function kindLike(value: unknown): Kind {
  const kinds: Readonly<Record<string, Kind>> = { string: 'text', number: 'number', boolean: 'boolean' };
  return kinds[typeof value] ?? 'json';
}

export function draftOf(properties: readonly Property[], values: JsonObject = {}): Draft {
  return Object.fromEntries(
    properties.map(({ name, kind, initial }) => [name, fieldValue(kind, values[name] ?? initial)]),
  );
}

function fieldValue(kind: Kind, value: unknown): string | boolean {
  if (kind === 'boolean') return value === true;
  if (value === undefined) return '';
  return kind === 'json' ? JSON.stringify(value, null, 2) : String(value ?? '');
}

/** The parsed values, and errors by property. Empty optional fields are left out. */
export function valuesOf(
  properties: readonly Property[],
  draft: Draft,
): { values: JsonObject; errors: Readonly<Record<string, string>> } {
  const values: Record<string, unknown> = {};
  const errors: Record<string, string> = {};
  for (const { name, kind, choices, isRequired } of properties) {
    const text = draft[name] ?? '';
    if (text === '' && (kind !== 'text' || !isRequired)) {
      if (isRequired) errors[name] = 'Enter a value.';
      continue;
    }
    // `Number` reads white space as 0.
    if (kind === 'number' && (String(text).trim() === '' || !Number.isFinite(Number(text))))
      errors[name] = 'Enter a number.';
    if (kind === 'json') {
      try {
        values[name] = JSON.parse(String(text));
      } catch {
        errors[name] = 'Invalid JSON: put text in quotation marks.';
      }
    } else if (kind === 'choice') values[name] = chosen(choices, text);
    else values[name] = kind === 'number' ? Number(text) : text;
  }
  return { values, errors };
}

/** A value that is not an option stays a string. */
function chosen(choices: readonly unknown[], text: string | boolean): unknown {
  const at = choices.findIndex((each) => String(each) === text);
  return at < 0 ? text : choices[at];
}

interface SchemaFieldsProps {
  readonly properties: readonly Property[];
  readonly draft: Draft;
  readonly errors?: Readonly<Record<string, string>>;
  readonly disabled?: boolean;
  readonly onChange: (draft: Draft) => void;
}

export function SchemaFields({
  properties,
  draft,
  errors = {},
  disabled = false,
  onChange,
}: SchemaFieldsProps) {
  return properties.map((property) => (
    <Field
      key={property.name}
      label={property.hint === '' ? property.label : `${property.label}: ${property.hint}`}
      note={property.type}
      error={errors[property.name]}
    >
      <Control
        property={property}
        value={draft[property.name] ?? ''}
        disabled={disabled}
        onChange={(value) => onChange({ ...draft, [property.name]: value })}
      />
    </Field>
  ));
}

/** Longer texts get a multi-line field, characters. */
const LINE_LENGTH = 72;

interface ControlProps {
  readonly property: Property;
  readonly value: string | boolean;
  readonly disabled: boolean;
  readonly onChange: (value: string | boolean) => void;
}

function Control({
  property: { kind, choices, type, example, initial },
  value,
  disabled,
  onChange,
}: ControlProps) {
  const text = String(value);
  const common = { disabled, value: text, 'aria-description': type || undefined };
  const placeholder = example === '' ? undefined : `For example ${example}`;
  const onText = ({ target }: { target: { value: string } }) => onChange(target.value);
  if (kind === 'boolean') {
    return (
      <input
        type="checkbox"
        className="size-4 self-start accent-accent"
        checked={value === true}
        disabled={disabled}
        onChange={({ target }) => onChange(target.checked)}
      />
    );
  }
  if (kind === 'choice') {
    return (
      <Select
        {...common}
        onChange={onText}
        options={[['', 'Choose …'], ...choices.map((each) => [String(each), String(each)] as const)]}
      />
    );
  }
  if (kind === 'number')
    return <TextInput {...common} placeholder={placeholder} inputMode="decimal" onChange={onText} />;
  const isLong = kind === 'json' || text.includes('\n') || String(initial ?? '').length > LINE_LENGTH;
  if (!isLong) return <TextInput {...common} placeholder={placeholder} onChange={onText} />;
  const rows = Math.min(12, Math.max(2, text.split('\n').length, Math.ceil(text.length / LINE_LENGTH)));
  return (
    <TextArea
      {...common}
      placeholder={placeholder}
      rows={rows}
      spellCheck={kind !== 'json'}
      className={kind === 'json' ? 'font-mono text-xs' : ''}
      onChange={onText}
    />
  );
}

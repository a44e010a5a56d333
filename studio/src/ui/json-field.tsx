import type { ComponentProps } from 'react';
import { typedValue } from '../api/values.ts';
import { Field, TextArea } from './fields.tsx';

/** What was typed, as a value or with what is wrong with it. */
export type Typed =
  | { readonly value: unknown; readonly error?: undefined }
  | { readonly error: string; readonly value?: undefined };

/** Reads text as JSON. Empty text is `undefined`. */
export function typedJson(text: string): Typed {
  if (text.trim() === '') return { value: undefined };
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (error) {
    return { error: `Not JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
}

/** What was typed where most values are words: JSON if it can be, else the text. */
export function jsonOrText(text: string): unknown {
  return typedValue(text).value;
}

/** A box for JSON. Tab leaves it, as every other field. */
export function JsonInput({ className = '', ...props }: ComponentProps<'textarea'>) {
  return (
    <TextArea spellCheck={false} rows={8} {...props} className={`font-mono text-xs/[18px] ${className}`} />
  );
}

interface JsonFieldProps {
  readonly label: string;
  readonly text: string;
  readonly onChange: (text: string) => void;
  readonly rows?: number;
}

/** A value to write as JSON. It says at once what is wrong. */
export function JsonField({ label, text, onChange, rows = 8 }: JsonFieldProps) {
  const { error } = typedJson(text);
  return (
    <Field label={label} error={error}>
      <JsonInput
        value={text}
        rows={rows}
        aria-invalid={error !== undefined}
        onChange={({ target }) => onChange(target.value)}
      />
    </Field>
  );
}

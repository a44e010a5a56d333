import type { ComponentProps } from 'react';
import { typedValue } from '../api/values.ts';
import { Field, TextArea } from './fields.tsx';

/** The parsed value, or the error. */
export type Typed =
  | { readonly value: unknown; readonly error?: undefined }
  | { readonly error: string; readonly value?: undefined };

/** Parses JSON. Empty text is `undefined`. */
export function typedJson(text: string): Typed {
  if (text.trim() === '') return { value: undefined };
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (error) {
    return { error: `Invalid JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
}

/** Parses text that is mostly plain words: JSON if valid, or else a string. */
export function jsonOrText(text: string): unknown {
  return typedValue(text).value;
}

/** A text area for JSON. Tab leaves it, as with any other field. */
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

/** A JSON field that shows errors while typing. */
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

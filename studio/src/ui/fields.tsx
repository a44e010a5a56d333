import type { ComponentProps } from 'react';

const BOX =
  'rounded-[7px] border border-line-strong bg-panel px-2.5 text-sm text-ink placeholder:text-ink-3 disabled:opacity-50';

export function TextInput({ className = '', ...props }: ComponentProps<'input'>) {
  return <input type="text" {...props} className={`h-7 ${BOX} ${className}`} />;
}

export function TextArea({ className = '', ...props }: ComponentProps<'textarea'>) {
  return <textarea {...props} className={`py-1.5 ${BOX} ${className}`} />;
}

interface SelectProps extends ComponentProps<'select'> {
  readonly options: readonly (readonly [value: string, label: string])[];
}

/** A native select, which every device displays well. */
export function Select({ options, className = '', ...props }: SelectProps) {
  return (
    <select {...props} className={`h-7 max-w-full pr-1 ${BOX} ${className}`}>
      {options.map(([value, label]) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </select>
  );
}

/** A labelled field with its error. */
export function Field({
  label,
  note,
  error,
  children,
}: {
  label: string;
  /** Next to the label, and no part of the name; the control describes itself with it. */
  note?: string;
  error?: string | undefined;
  children: React.ReactNode;
}) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is among the children
    <label className="flex min-w-0 flex-col gap-1">
      <span className="text-xs text-ink-2">
        {label}
        {note && (
          <span aria-hidden className="ml-1.5 text-ink-3">
            {note}
          </span>
        )}
      </span>
      {children}
      {error !== undefined && <span className="text-xs text-err">{error}</span>}
    </label>
  );
}

/** Moves the keyboard's focus to the first field of a form. Does nothing before the form is there. */
export function focusFirstField(form: HTMLFormElement | null): void {
  form?.querySelector<HTMLElement>('input, textarea, select')?.focus();
}

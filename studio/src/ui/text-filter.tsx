import { useState } from 'react';
import { TextInput } from './fields.tsx';

interface TextFilterProps {
  readonly label: string;
  readonly className: string;
  readonly value: string | undefined;
  readonly set: (value: string) => void;
  /** Validates the text. Throws a readable error. */
  readonly check?: (value: string) => unknown;
}

/** A text filter. Applies on Enter and on blur. */
export function TextFilter({ label, className, value = '', set, check }: TextFilterProps) {
  const [text, setText] = useState(value);
  const [problem, setProblem] = useState<string>();
  const [applied, setApplied] = useState(value);
  const [before, setBefore] = useState(value);
  // The address has changed: by this field, in which more may have been typed since, or by a link.
  if (before !== value) {
    setBefore(value);
    if (applied !== value) {
      setApplied(value);
      setText(value);
      setProblem(undefined);
    }
  }
  function apply() {
    try {
      check?.(text);
      setProblem(undefined);
      if (text.trim() === value) return;
      setApplied(text.trim());
      set(text.trim());
    } catch (error) {
      setProblem((error as Error).message);
    }
  }
  return (
    <form
      className={`flex flex-col max-sm:w-full ${className}`}
      onSubmit={(event) => {
        event.preventDefault();
        apply();
      }}
    >
      <TextInput
        type="search"
        aria-label={label}
        aria-invalid={problem !== undefined}
        placeholder={label}
        value={text}
        onChange={({ target }) => setText(target.value)}
        onBlur={apply}
      />
      {problem !== undefined && (
        <span role="alert" className="text-xs text-err">
          {problem}
        </span>
      )}
    </form>
  );
}

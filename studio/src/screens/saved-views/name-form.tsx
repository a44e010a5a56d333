import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Field, TextInput } from '../../ui/fields.tsx';

const MAX_LENGTH = 100;

interface NameFormProps {
  readonly label: string;
  readonly name?: string;
  /** Label of the button for the typed name. */
  readonly action: (name: string) => string;
  /** Names already in use. */
  readonly refused?: readonly string[];
  readonly save: (name: string) => Promise<unknown>;
}

/** Asks for the name of a view. Errors are shown below the field. */
export function NameForm({ label, name = '', action, refused = [], save }: NameFormProps) {
  const [text, setText] = useState(name);
  const [problem, setProblem] = useState<string>();
  const wanted = text.trim();
  async function submit() {
    if (wanted === '') return;
    if (refused.includes(wanted)) return setProblem('This name is taken. Choose another one.');
    try {
      await save(wanted);
      setText('');
      setProblem(undefined);
    } catch (error) {
      setProblem((error as Error).message);
    }
  }
  return (
    <form
      className="flex items-end gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <div className="flex-1">
        <Field label={label} error={problem}>
          <TextInput
            autoFocus
            value={text}
            maxLength={MAX_LENGTH}
            onChange={({ target }) => setText(target.value)}
          />
        </Field>
      </div>
      <Button type="submit" disabled={wanted === ''}>
        {action(wanted)}
      </Button>
    </form>
  );
}

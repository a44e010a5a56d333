import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Select, TextInput } from '../../ui/fields.tsx';
import { jsonOrText } from '../../ui/json-field.tsx';
import { type Condition, conditionsIn, filterOf, OPERATORS, type Operator, wordsOf } from './conditions.ts';

/** Filter conditions, one chip each. They are in the address. */
export function Filters({ filter }: { filter: string | undefined }) {
  const navigate = useNavigate({ from: '/store' });
  const conditions = conditionsIn(filter);
  function set(next: readonly Condition[]) {
    const text = next.length > 0 ? JSON.stringify(filterOf(next)) : undefined;
    void navigate({ search: ({ namespace, query }) => ({ namespace, query, filter: text }) });
  }
  return (
    <div className="flex flex-wrap items-center gap-2">
      {conditions.map((condition) => {
        const words = wordsOf(condition);
        return (
          <span
            key={words}
            className="inline-flex h-7 max-w-full items-center gap-1 rounded-[7px] bg-sunk pl-2.5 text-sm"
          >
            <bdi className="truncate">{words}</bdi>
            <button
              type="button"
              aria-label={`Remove the filter ${words}`}
              className="size-7 flex-none rounded-[7px] text-ink-2 hover:text-ink"
              onClick={() => set(conditions.filter((each) => each !== condition))}
            >
              ×
            </button>
          </span>
        );
      })}
      <AddFilter add={(condition) => set([...conditions, condition])} />
    </div>
  );
}

function AddFilter({ add }: { add: (condition: Condition) => void }) {
  const [field, setField] = useState('');
  const [operator, setOperator] = useState<Operator>('$eq');
  const [text, setText] = useState('');
  return (
    <form
      className="flex flex-wrap gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        add({ field: field.trim(), operator, value: jsonOrText(text) });
        setField('');
        setText('');
      }}
    >
      <TextInput
        required
        aria-label="Field"
        placeholder="Field"
        className="w-32"
        value={field}
        onChange={({ target }) => setField(target.value)}
      />
      <Select
        aria-label="Comparison"
        value={operator}
        onChange={({ target }) => setOperator(target.value as Operator)}
        options={OPERATORS}
      />
      <TextInput
        required
        aria-label="Compare with"
        placeholder="Value"
        className="w-32"
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      <Button type="submit">Add filter</Button>
    </form>
  );
}

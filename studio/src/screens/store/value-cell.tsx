import { useQueryClient } from '@tanstack/react-query';
import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { TextArea } from '../../ui/fields.tsx';
import { jsonOrText, typedJson } from '../../ui/json-field.tsx';
import { type Item, setField } from './store-queries.ts';

interface ValueCellProps {
  readonly item: Item;
  readonly field: string;
  /** Position of the cell, for the arrow keys. */
  readonly place: string;
  /** Whether this cell is the table's tab stop. */
  readonly isStop: boolean;
  readonly stop: () => void;
  /** Opens the item. */
  readonly open: () => void;
}

/** A cell. Enter or a double click edits the field in place, or opens the item if it is long. */
export function ValueCell({ item, field, place, isStop, stop, open }: ValueCellProps) {
  const [isEditing, setEditing] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const returns = useRef(false);
  useEffect(() => {
    if (isEditing || !returns.current) return;
    returns.current = false;
    button.current?.focus();
  }, [isEditing]);
  if (isEditing) {
    const done = (isByKey: boolean) => {
      returns.current = isByKey;
      setEditing(false);
    };
    return <Editor item={item} field={field} done={done} />;
  }
  const edit = () => (item.preview.cut.includes(field) ? open() : setEditing(true));
  return (
    <button
      ref={button}
      type="button"
      data-cell={place}
      tabIndex={isStop ? 0 : -1}
      className="block min-h-5 w-full truncate text-left"
      onFocus={stop}
      // A click by keyboard or screen reader, which no double click follows.
      onClick={({ detail }) => detail === 0 && edit()}
      onDoubleClick={edit}
    >
      <span className="sr-only">
        <bdi>{field}</bdi>:{' '}
      </span>
      <ValueText item={item} field={field} />
    </button>
  );
}

/** The value of a field on one line. */
export function ValueText({ item: { preview }, field }: Pick<ValueCellProps, 'item' | 'field'>) {
  if (!Object.hasOwn(preview.fields, field)) return null;
  const value = preview.fields[field];
  if (typeof value !== 'string') return <span className="font-mono text-xs">{JSON.stringify(value)}</span>;
  return (
    <bdi>
      {value}
      {preview.cut.includes(field) && '…'}
    </bdi>
  );
}

interface EditorProps extends Pick<ValueCellProps, 'item' | 'field'> {
  readonly done: (isByKey: boolean) => void;
}

/** Enter and blur save, Escape cancels, Shift+Enter starts a new line. A string stays a string; other values are JSON. */
function Editor({ item, field, done }: EditorProps) {
  const client = useQueryClient();
  const before = item.preview.fields[field];
  // Changes by others that arrive while editing must not replace the edited value.
  const [initial] = useState(() => (typeof before === 'string' ? before : (JSON.stringify(before) ?? '')));
  const [read] = useState(() => readerOf(before));
  const [text, setText] = useState(initial);
  const [problem, setProblem] = useState('');
  const isSaving = useRef(false);

  async function save(isByKey: boolean) {
    if (isSaving.current) return;
    if (text === initial) return done(isByKey);
    isSaving.current = true;
    try {
      await setField(item, field, read(text));
      await client.invalidateQueries({ queryKey: ['item'] });
      done(isByKey);
    } catch (error) {
      setProblem((error as Error).message);
    } finally {
      isSaving.current = false;
    }
  }
  function onKeyDown(event: KeyboardEvent) {
    // Arrow keys move the caret, not the cell.
    event.stopPropagation();
    if (event.nativeEvent.isComposing || (event.key === 'Enter' && event.shiftKey)) return;
    if (event.key !== 'Enter' && event.key !== 'Escape') return;
    event.preventDefault();
    if (event.key === 'Escape') done(true);
    else void save(true);
  }
  return (
    <>
      <TextArea
        autoFocus
        onFocus={({ target }) => {
          target.select();
          // Wider than the cell.
          target.scrollIntoView({ block: 'nearest', inline: 'nearest' });
        }}
        aria-label={`${field} of ${item.key}`}
        aria-invalid={problem !== ''}
        rows={Math.min(6, text.split('\n').length)}
        className="block w-full min-w-48 resize-none"
        value={text}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={onKeyDown}
        onBlur={({ target }) => {
          // Without a target the whole window has lost the focus, and will return it here.
          if (document.activeElement !== target) void save(false);
        }}
      />
      {problem !== '' && (
        <span role="alert" className="mt-1 block text-xs whitespace-normal text-err">
          {problem}
        </span>
      )}
    </>
  );
}

/** Returns the parser for the typed text, by the type of the old value. It throws a readable error. */
function readerOf(before: unknown): (text: string) => unknown {
  if (typeof before === 'string') return (text) => text;
  if (before === undefined) return jsonOrText;
  return (text) => {
    const { value, error = 'Enter valid JSON, such as null.' } = typedJson(text);
    if (value === undefined) throw new Error(error);
    return value;
  };
}

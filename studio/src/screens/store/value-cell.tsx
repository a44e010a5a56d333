import { useQueryClient } from '@tanstack/react-query';
import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { TextArea } from '../../ui/fields.tsx';
import { jsonOrText, typedJson } from '../../ui/json-field.tsx';
import { type Item, setField } from './store-queries.ts';

interface ValueCellProps {
  readonly item: Item;
  readonly field: string;
  /** Of the cell, for the arrow keys. */
  readonly place: string;
  /** One cell of the table is among the stops of Tab. */
  readonly isStop: boolean;
  readonly stop: () => void;
  /** Opens the item. */
  readonly open: () => void;
}

/** A field of a value: Enter or a double click edits it in place, or opens the item if it is long. */
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
      // Of a key, or of a program that reads the page aloud: no double click follows.
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

/** What a field is, in a line. */
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

/** Enter and leaving it save, Escape does not; Shift+Enter is a new line. A text stays a text, and anything else JSON. */
function Editor({ item, field, done }: EditorProps) {
  const client = useQueryClient();
  const before = item.preview.fields[field];
  // A change of others that arrives meanwhile is not what is edited here.
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
    // Arrow keys move within the text.
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
          // It is wider than the field was.
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
          // Otherwise the whole window has lost the focus, and returns to here.
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

/** How what is typed is read, by what was there. The reader throws an error that says what is wrong. */
function readerOf(before: unknown): (text: string) => unknown {
  if (typeof before === 'string') return (text) => text;
  if (before === undefined) return jsonOrText;
  return (text) => {
    const { value, error = 'Write JSON, such as null.' } = typedJson(text);
    if (value === undefined) throw new Error(error);
    return value;
  };
}

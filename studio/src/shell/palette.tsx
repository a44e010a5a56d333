import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useEffect, useState } from 'react';
import { useSession } from '../api/session.ts';
import { Dialog } from '../ui/dialog.tsx';
import { TextInput } from '../ui/fields.tsx';
import { groupsOf } from './navigation.ts';

/** A run, a thread or an assistant by its id. */
const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i;

interface Choice {
  readonly label: string;
  readonly go: () => void;
}

interface PaletteProps {
  /** Asks whose view to take; `undefined` for who may not. */
  readonly viewAs: (() => void) | undefined;
}

/** Goes to any screen, or to what an id names. Opens with ⌘K or Ctrl K. */
export function Palette({ viewAs }: PaletteProps) {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    function onKey(event: globalThis.KeyboardEvent) {
      if (event.key !== 'k' || !(event.metaKey || event.ctrlKey)) return;
      event.preventDefault();
      setOpen(true);
    }
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  return (
    <>
      <button
        type="button"
        onClick={() => setOpen(true)}
        className="flex h-7 w-[260px] items-center justify-between rounded-[7px] border border-line bg-panel px-2.5 text-xs text-ink-3 max-sm:w-auto"
      >
        Go to …<kbd className="font-mono text-[11px] max-sm:hidden">⌘K</kbd>
      </button>
      <Dialog title="Go to" open={isOpen} onClose={() => setOpen(false)}>
        <Choices close={() => setOpen(false)} viewAs={viewAs} />
      </Dialog>
    </>
  );
}

function Choices({ close, viewAs }: PaletteProps & { close: () => void }) {
  const [query, setQuery] = useState('');
  const [selected, setSelected] = useState(0);
  const choices = useChoices(query.trim(), viewAs);
  const choose = (choice: Choice | undefined) => {
    if (!choice) return;
    close();
    choice.go();
  };
  function onKeyDown(event: KeyboardEvent) {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by !== undefined) {
      event.preventDefault();
      setSelected((selected + by + choices.length) % Math.max(1, choices.length));
    }
    if (event.key === 'Enter') choose(choices[selected]);
  }
  return (
    <>
      <TextInput
        autoFocus
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-choices"
        aria-activedescendant={`palette-${selected}`}
        aria-label="Screen, or id of a run or thread"
        placeholder="Screen, or id of a run or thread"
        value={query}
        onKeyDown={onKeyDown}
        onChange={({ target }) => {
          setQuery(target.value);
          setSelected(0);
        }}
      />
      <div id="palette-choices" role="listbox" aria-label="Choices" className="flex flex-col">
        {choices.map((choice, i) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the keys
          <div
            key={choice.label}
            id={`palette-${i}`}
            role="option"
            tabIndex={-1}
            aria-selected={i === selected}
            onClick={() => choose(choice)}
            className="cursor-pointer rounded-md px-2.5 py-1.5 hover:bg-sunk aria-selected:bg-sunk"
          >
            {choice.label}
          </div>
        ))}
        {choices.length === 0 && <p className="px-2.5 py-1.5 text-ink-3">Nothing has this name.</p>}
      </div>
    </>
  );
}

function useChoices(query: string, viewAs: PaletteProps['viewAs']): Choice[] {
  const navigate = useNavigate();
  const session = useSession();
  if (UUID.test(query)) {
    return [
      { label: `Run ${query}`, go: () => void navigate({ to: '/runs/$runId', params: { runId: query } }) },
      {
        label: `Thread ${query}`,
        go: () => void navigate({ to: '/threads/$threadId', params: { threadId: query } }),
      },
    ];
  }
  const screens = groupsOf(session)
    .flat()
    .map(({ to, label }) => ({ label, go: () => void navigate({ to }) }));
  const others = viewAs ? [{ label: 'View as user', go: viewAs }] : [];
  return [...screens, ...others].filter(({ label }) => label.toLowerCase().includes(query.toLowerCase()));
}

import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useEffect, useState } from 'react';
import { useDeploymentAccess, useSession } from '../api/session.ts';
import { Dialog } from '../ui/dialog.tsx';
import { TextInput } from '../ui/fields.tsx';
import { groupsOf } from './navigation.ts';
import { type Found, foundQuery } from './palette-search.ts';

/** An id of a run, thread or other entity. */
const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i;

/** Debounce before the server is searched, ms. */
const PAUSE_MS = 150;

interface Choice {
  readonly label: string;
  /** Kind of entity, if not a screen. */
  readonly kind?: string;
  /** Distinguishes it from others with the same label. */
  readonly id?: string;
  readonly go: () => void;
}

interface PaletteProps {
  /** Opens the view-as dialog. `undefined` if the caller may not. */
  readonly viewAs: (() => void) | undefined;
}

/** Command palette: opens any screen, or an entity by name or id. ⌘K or Ctrl+K. */
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
  const { choices, note } = useChoices(query.trim(), viewAs);
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
        aria-label="Screen, name, id, or metadata such as user=ana"
        placeholder="Screen, name, id, or metadata such as user=ana"
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
            key={`${choice.kind} ${choice.id ?? choice.label}`}
            id={`palette-${i}`}
            role="option"
            tabIndex={-1}
            aria-selected={i === selected}
            onClick={() => choose(choice)}
            className="flex cursor-pointer justify-between gap-4 rounded-md px-2.5 py-1.5 hover:bg-sunk aria-selected:bg-sunk"
          >
            <span className="truncate">{choice.label}</span>
            {choice.kind && <span className="text-ink-3">{choice.kind}</span>}
          </div>
        ))}
      </div>
      {note && (
        <p role="status" className="px-2.5 text-ink-3">
          {note}
        </p>
      )}
    </>
  );
}

/** Matching screens at once, followed by the search results of the server. */
function useChoices(query: string, viewAs: PaletteProps['viewAs']): { choices: Choice[]; note?: string } {
  const navigate = useNavigate();
  const session = useSession();
  const { canSee } = useDeploymentAccess();
  const isId = UUID.test(query);
  const asked = useDebounced(isId ? '' : query);
  const search = foundQuery(asked, {
    deployments: canSee,
    keys: session.isOperator,
    others: session.scope !== 'deployments:write',
  });
  const { data: found = [], error, isLoading } = useQuery(search);
  if (isId) {
    const choices = BY_ID.map((kind) => ({
      label: `${kind} ${query}`,
      go: () => PAGES[kind](navigate, query),
    }));
    return { choices };
  }
  const screens = groupsOf(session)
    .flat()
    .map(({ to, label }) => ({ label, go: () => void navigate({ to }) }));
  const others: Choice[] = viewAs ? [{ label: 'View as user', go: viewAs }] : [];
  const known = [...screens, ...others].filter(({ label }) =>
    label.toLowerCase().includes(query.toLowerCase()),
  );
  if (isLoading || asked !== query) return { choices: known, note: 'Searching …' };
  const named = found.map(({ kind, id, name }) => ({
    label: name,
    kind,
    id,
    go: () => PAGES[kind](navigate, id),
  }));
  const choices = [...known, ...named];
  if (error) return { choices, note: error.message };
  return choices.length === 0 ? { choices, note: 'No results.' } : { choices };
}

type Navigate = ReturnType<typeof useNavigate>;

/** Kinds of entities that a pasted id may belong to, most likely first. */
const BY_ID = ['Run', 'Thread', 'Assistant', 'Cron', 'Delivery'] as const;

const PAGES: Readonly<
  Record<Found['kind'] | (typeof BY_ID)[number], (navigate: Navigate, id: string) => void>
> = {
  Run: (navigate, id) => void navigate({ to: '/runs/$runId', params: { runId: id } }),
  Delivery: (navigate, id) => void navigate({ to: '/webhooks/$deliveryId', params: { deliveryId: id } }),
  Namespace: (navigate, id) => void navigate({ to: '/store', search: { namespace: id } }),
  Key: (navigate) => void navigate({ to: '/keys' }),
  Assistant: (navigate, id) => void navigate({ to: '/assistants/$assistantId', params: { assistantId: id } }),
  Graph: (navigate, id) => void navigate({ to: '/graphs/$assistantId', params: { assistantId: id } }),
  Thread: (navigate, id) => void navigate({ to: '/threads/$threadId', params: { threadId: id } }),
  Cron: (navigate, id) => void navigate({ to: '/crons/$cronId', params: { cronId: id } }),
  Deployment: (navigate, id) =>
    void navigate({ to: '/deployments/$deploymentId', params: { deploymentId: id } }),
};

/** The debounced text. */
function useDebounced(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

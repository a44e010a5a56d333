import { useNavigate, useSearch } from '@tanstack/react-router';

interface Search {
  readonly stream?: string;
  readonly graph?: string;
}

/** Whether a conversation shows what a run writes while it does; the address says so if not. */
export function useIsStreamed(): boolean {
  return (useSearch({ strict: false }) as Search).stream !== 'off';
}

/** What the conversations of one assistant have in common in the address. */
export function settingsOf({ graph, stream }: Search): Search {
  return { ...(graph !== undefined && { graph }), ...(stream !== undefined && { stream }) };
}

/** Shows tokens as they come, or each answer when its run has ended; runs that are started then do not stream their models. */
export function StreamingSwitch() {
  const isStreamed = useIsStreamed();
  const navigate = useNavigate();
  return (
    <label className="flex h-7 items-center gap-1.5 px-1.5 text-ink-2">
      <input
        type="checkbox"
        className="accent-accent"
        checked={isStreamed}
        onChange={({ target }) =>
          void navigate({
            to: '.',
            search: ({ stream: _, ...others }: Search) =>
              target.checked ? others : { ...others, stream: 'off' },
            replace: true,
          })
        }
      />
      Streaming
    </label>
  );
}

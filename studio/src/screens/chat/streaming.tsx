import { useNavigate, useSearch } from '@tanstack/react-router';

interface Search {
  readonly stream?: string;
  readonly graph?: string;
}

/** Whether a conversation streams. The address tells if it does not. */
export function useIsStreamed(): boolean {
  return (useSearch({ strict: false }) as Search).stream !== 'off';
}

/** The search parameters that all conversations of one assistant share. */
export function settingsOf({ graph, stream }: Search): Search {
  return { ...(graph !== undefined && { graph }), ...(stream !== undefined && { stream }) };
}

/** Toggles streaming. Without it, answers appear when their run ends, and new runs do not stream their models. */
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

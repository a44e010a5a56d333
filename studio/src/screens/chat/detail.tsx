import { Link, useSearch } from '@tanstack/react-router';
import { buttonClass } from '../../ui/button.tsx';

/** Whether a conversation shows messages only, from the address. */
export function useIsBrief(): boolean {
  return (useSearch({ strict: false }) as { detail?: string }).detail === 'messages';
}

/** Shows or hides reasoning, tools and other messages. */
export function DetailToggle() {
  const isBrief = useIsBrief();
  return (
    <Link
      to="."
      search={({ detail: _, ...others }: { detail?: string }) =>
        isBrief ? others : { ...others, detail: 'messages' }
      }
      replace
      className={buttonClass('quiet')}
    >
      {isBrief ? 'Show details' : 'Messages only'}
    </Link>
  );
}

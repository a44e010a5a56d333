import { Link, useSearch } from '@tanstack/react-router';
import { buttonClass } from '../../ui/button.tsx';

/** Whether a conversation shows what is said and nothing else; the address says so. */
export function useIsBrief(): boolean {
  return (useSearch({ strict: false }) as { detail?: string }).detail === 'messages';
}

/** Shows reasoning, tools and other messages, or no longer. */
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

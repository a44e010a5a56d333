import type { Schemas } from '../api/client.ts';
import { count } from '../ui/format.tsx';
import type { Screen } from './navigation.ts';

interface Attention {
  /** Number of entries of a screen that need attention. */
  readonly value: number;
  readonly isMore?: boolean;
  readonly what: string;
  readonly look: string;
}

const BAD = 'bg-err-bg text-err';
const WAITS = 'bg-wait-bg text-wait';

const ATTENTION: Partial<Record<Screen['to'], (overview: Schemas['SystemOverview']) => Attention>> = {
  '/runs': ({ runs }) => ({
    value: runs.ended.failed_last_hour,
    what: 'failed in the last hour',
    look: BAD,
  }),
  '/inbox': ({ interrupts }) => ({
    value: interrupts.waiting,
    isMore: interrupts.more,
    what: 'waiting for a person',
    look: WAITS,
  }),
  '/webhooks': ({ webhooks }) => ({ value: webhooks.dead, what: 'dead', look: BAD }),
};

interface CountProps extends Pick<Screen, 'to'> {
  readonly overview: Schemas['SystemOverview'];
}

/** Badge next to a screen link: number of entries that need attention. */
export function Count({ to, overview }: CountProps) {
  const attention = ATTENTION[to]?.(overview);
  if (!attention || attention.value === 0) return null;
  const { value, isMore = false, what, look } = attention;
  const text = `${count(value)}${isMore ? '+' : ''}`;
  return (
    <span
      role="img"
      aria-label={`${text} ${what}`}
      title={`${text} ${what}`}
      // Clicks pass through to the link below.
      className={`pointer-events-none rounded-[10px] px-1.5 text-center text-xs leading-5 font-medium tabular-nums md:absolute md:top-[5px] md:right-2 md:min-w-5 ${look}`}
    >
      {text}
    </span>
  );
}

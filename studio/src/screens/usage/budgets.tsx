import { useQuery } from '@tanstack/react-query';
import { count, percent } from '../../ui/format.tsx';
import { useMoney } from '../../ui/money.ts';
import { Panel } from '../../ui/page.tsx';
import { Failure } from '../../ui/states.tsx';
import { useKeyNames } from '../keys/keys-query.ts';
import { type Budget, budgetsQuery } from './usage-query.ts';

type Limits = Pick<Budget, 'max_cost' | 'max_tokens' | 'max_steps'>;

/** What is used today of each budget, and the limits of a run and a thread. Nothing without budgets. */
export function Budgets() {
  const { data, error, refetch } = useQuery(budgetsQuery);
  const say = useLimits();
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  if (!data || (data.budgets.length === 0 && !data.run && !data.thread)) return null;
  return (
    <Panel title="Budgets today">
      <ul className="flex flex-col gap-3">
        {data.budgets.map((budget) => (
          <Used key={`${budget.scope} ${budget.subject}`} budget={budget} />
        ))}
      </ul>
      {data.run && <p className="text-ink-2">Each run: at most {say(data.run)}.</p>}
      {data.thread && <p className="text-ink-2">Each thread: at most {say(data.thread)}.</p>}
    </Panel>
  );
}

/** Limits in words. */
function useLimits(): (limits: Limits) => string {
  const money = useMoney();
  return ({ max_cost, max_tokens, max_steps }) =>
    [
      max_cost !== null && money(max_cost),
      max_tokens !== null && `${count(max_tokens)} tokens`,
      max_steps !== null && `${count(max_steps)} steps`,
    ]
      .filter(Boolean)
      .join(', ');
}

/** Share of a budget from which it is marked. */
const NEARLY = 0.8;

function Used({ budget }: { budget: Budget }) {
  const money = useMoney();
  const name = useSubject(budget);
  const { max_cost, max_tokens, max_steps, cost, tokens, steps } = budget;
  const limits = [
    ...(max_cost === null ? [] : [{ share: cost / max_cost, text: `${money(cost)} of ${money(max_cost)}` }]),
    ...(max_tokens === null
      ? []
      : [{ share: tokens / max_tokens, text: `${count(tokens)} of ${count(max_tokens)} tokens` }]),
    ...(max_steps === null
      ? []
      : [{ share: steps / max_steps, text: `${count(steps)} of ${count(max_steps)} steps` }]),
  ];
  return (
    <li className="flex flex-col gap-1">
      <span className="font-medium">
        <bdi>{name}</bdi>
      </span>
      {limits.map(({ share, text }) => (
        <div key={text} className="flex flex-wrap items-center gap-x-3">
          <div
            role="progressbar"
            aria-label={`${name}: ${text}`}
            aria-valuenow={Math.round(100 * Math.min(1, share))}
            aria-valuemin={0}
            aria-valuemax={100}
            className="h-2 w-48 max-w-full overflow-hidden rounded-full bg-sunk"
          >
            <div
              className={`h-full ${share >= 1 ? 'bg-err' : share >= NEARLY ? 'bg-wait' : 'bg-accent'}`}
              style={{ width: `${100 * Math.min(1, share)}%` }}
            />
          </div>
          <span className="text-ink-2 tabular-nums">{text}</span>
          <span className={share >= 1 ? 'font-medium text-err' : 'text-ink-3'}>
            {share >= 1 ? 'used up' : percent(share)}
          </span>
        </div>
      ))}
    </li>
  );
}

function useSubject({ scope, subject }: Budget): string {
  const keys = useKeyNames(scope === 'key_day');
  if (scope === 'day') return 'All runs';
  if (scope === 'user_day') return `User ${subject}`;
  return `API key ${keys.get(subject) || subject}`;
}

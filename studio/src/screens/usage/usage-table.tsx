import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { assistantName, assistantsQuery } from '../../api/assistants.ts';
import { count, percent, shortId } from '../../ui/format.tsx';
import { useMoney } from '../../ui/money.ts';
import { type Column, ItemTable, OPENS } from '../../ui/table.tsx';
import { useKeyNames } from '../keys/keys-query.ts';
import { isPriced } from '../runs/run-usage.ts';
import { cacheHits } from './totals.tsx';
import { type Grouping, NONE, type UsageGroup } from './usage-query.ts';

const FIELD = {
  day: 'day',
  assistant: 'assistant_id',
  model: 'model',
  user: 'user',
  key: 'key_id',
} as const satisfies Record<Grouping, keyof UsageGroup>;

const TITLE: Readonly<Record<Grouping, string>> = {
  day: 'Day (UTC)',
  assistant: 'Assistant',
  model: 'Model',
  user: 'User',
  key: 'API key',
};

interface UsageTableProps {
  readonly groups: readonly UsageGroup[];
  readonly by: Grouping;
}

/** Sums as a table; a click on one filters by it. */
export function UsageTable({ groups, by }: UsageTableProps) {
  const money = useMoney();
  const nameOf = useNames(by);
  const number = 'whitespace-nowrap tabular-nums';
  const columns: readonly Column<UsageGroup>[] = [
    {
      name: TITLE[by],
      className: 'max-w-[48ch] truncate',
      cell: (group) => <Name {...{ group, by, nameOf }} />,
    },
    { name: 'Cost', className: number, cell: (group) => isPriced(group) && money(group.cost) },
    { name: 'Calls', className: number, cell: ({ calls }) => count(calls) },
    { name: 'Tokens in', className: number, cell: ({ tokens_in }) => count(tokens_in) },
    { name: 'Cached', className: number, cell: ({ tokens_cached }) => count(tokens_cached) },
    { name: 'Cache hits', className: number, cell: (group) => hitsOf(group) },
    { name: 'Tokens out', className: number, cell: ({ tokens_out }) => count(tokens_out) },
  ];
  return (
    <ItemTable
      label={`Usage by ${by === 'key' ? 'API key' : by}`}
      items={groups}
      keyOf={(group) => group[FIELD[by]] ?? ''}
      columns={columns}
    />
  );
}

function hitsOf(group: UsageGroup): ReactNode {
  const hits = cacheHits(group);
  return hits === undefined ? '–' : percent(hits);
}

interface NameProps {
  readonly group: UsageGroup;
  readonly by: Grouping;
  readonly nameOf: (id: string) => string;
}

function Name({ group, by, nameOf }: NameProps) {
  const value = group[FIELD[by]] ?? '';
  if (by === 'day') return value;
  const name = value === '' ? 'None' : nameOf(value);
  return (
    <Link
      to="/usage"
      search={(before) => ({ ...before, tab: undefined, [by]: value === '' ? NONE : value })}
      title={value}
      className="text-ink hover:text-accent"
      {...OPENS}
    >
      <bdi>{name}</bdi>
    </Link>
  );
}

/** Names of assistants and keys by their ids; models and users are their own. */
function useNames(by: Grouping): (id: string) => string {
  const { data: assistants = [] } = useQuery({ ...assistantsQuery, enabled: by === 'assistant' });
  const keys = useKeyNames(by === 'key');
  const names = new Map([
    ...assistants.map((each) => [each.assistant_id, assistantName(each)] as const),
    ...keys,
  ]);
  return (id) => names.get(id) || (by === 'assistant' || by === 'key' ? shortId(id) : id);
}

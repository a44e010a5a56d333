import { nullable, number, text } from '../../../db/columns.ts';
import type { Db } from '../../../db/db.ts';
import { and, join, raw, type Sql, sql } from '../../../db/sql.ts';
import type { UsageKey } from '../schemas.ts';
import { rollUpUsage, type UsageSums } from './charges.ts';

/** Which usage is summed up, by what. */
export interface UsageQuery {
  readonly by: readonly UsageKey[];
  /** First and last day, as YYYY-MM-DD. */
  readonly from: string;
  readonly to: string;
  readonly assistant_id?: string | undefined;
  readonly user?: string | undefined;
  /** Id of an API key; empty: none. */
  readonly key?: string | undefined;
  readonly model?: string | undefined;
  readonly limit: number;
  readonly offset: number;
}

/** Sums of one combination of keys; null where the query does not ask for the key. */
export type UsageRow = UsageSums & { readonly [Key in UsageKey]: string | null };

export type UsageRepository = ReturnType<typeof usageRepository>;

const COLUMN: Record<UsageKey, Sql> = {
  day: raw('day'),
  assistant: raw('assistant_id'),
  user: raw('user_id'),
  key: raw('key_id'),
  model: raw('model'),
};

/** What runs used of models; `charges.ts` writes it. */
export function usageRepository(db: Db) {
  return {
    /** In the order of the keys. Without keys, one row of all, of zeros if there is nothing. */
    sum(query: UsageQuery): Promise<UsageRow[]> {
      const key = (name: UsageKey) => (query.by.includes(name) ? COLUMN[name] : raw('null'));
      const keys = join(
        query.by.map((name) => COLUMN[name]),
        ', ',
      );
      // What all was used with a key leaves sums of zero without one.
      const grouped =
        query.by.length > 0 ? sql`group by ${keys} having sum(calls) > 0 order by ${keys}` : raw('');
      // One statement reads one snapshot: an entry is either there or in its day.
      return db.all(sql`
        select ${key('day')} as ${nullable(text('day'))}, ${key('assistant')} as ${nullable(text('assistant'))},
          ${key('user')} as ${nullable(text('user'))}, ${key('key')} as ${nullable(text('key'))}, ${key('model')} as ${nullable(text('model'))},
          ${SUMS}
        from (${sourceOf(query)}) used
        ${grouped} limit ${query.limit} offset ${query.offset}`);
    },

    /** Sums up the entries of ended runs; returns how many, at most `limit`. */
    rollUp: (limit: number): Promise<number> => rollUpUsage(db, limit),
  };
}

/** Rows to sum up; few of them if the query asks for neither users nor keys. */
function sourceOf(query: UsageQuery): Sql {
  const wanted = matches(query);
  if (query.key !== undefined || query.by.includes('key')) return sourceByKey(query, wanted);
  const isByUser = query.user !== undefined || query.by.includes('user');
  const columns = sql`${isByUser ? raw('user_id, ') : raw('')}${COLUMNS}`;
  return sql`
    select ${columns} from ${raw(isByUser ? 'usage_days' : 'usage_totals')} where ${wanted}
    union all select ${columns} from usage_entries where ${wanted}
    union all select ${columns} from usage_key_entries where ${wanted}`;
}

/** Without a key was used what the keys have not used of all: servers that do not know of keys wrote some of it. */
function sourceByKey({ key }: UsageQuery, wanted: Sql): Sql {
  const withKey = sql`user_id, key_id, ${COLUMNS}`;
  const withoutKey = sql`user_id, '' as key_id, ${COLUMNS}`;
  return sql`
    select * from (
      select ${withoutKey} from usage_days where ${wanted}
      union all select user_id, '' as key_id, ${NEGATIVE_COLUMNS} from usage_keys where ${wanted}
      union all select ${withKey} from usage_keys where ${wanted}
      union all select ${withoutKey} from usage_entries where ${wanted}
      union all select ${withKey} from usage_key_entries where ${wanted}) of_keys
    where ${key === undefined ? raw('true') : sql`key_id = ${key}`}`;
}

const COLUMNS = raw(`day, assistant_id, model, calls, unpriced_calls, tokens_in, tokens_cached, tokens_out,
  cost_nanos`);

const NEGATIVE_COLUMNS = raw(`day, assistant_id, model, -calls, -unpriced_calls, -tokens_in, -tokens_cached,
  -tokens_out, -cost_nanos`);

const SUMS = sql`coalesce(sum(calls), 0) as ${number('calls')},
  coalesce(sum(unpriced_calls), 0) as ${number('unpriced_calls')},
  coalesce(sum(tokens_in), 0) as ${number('tokens_in')},
  coalesce(sum(tokens_cached), 0) as ${number('tokens_cached')},
  coalesce(sum(tokens_out), 0) as ${number('tokens_out')},
  coalesce(sum(cost_nanos), 0) as ${number('cost_nanos')}`;

function matches({ from, to, assistant_id, user, model }: UsageQuery): Sql {
  return and([
    sql`day >= ${from} and day <= ${to}`,
    assistant_id === undefined ? undefined : sql`assistant_id = ${assistant_id}`,
    user === undefined ? undefined : sql`user_id = ${user}`,
    model === undefined ? undefined : sql`model = ${model}`,
  ]);
}

import { columns, notNull, number } from '../../db/columns.ts';
import type { Transaction } from '../../db/db.ts';
import { type DialectSql, join, raw, type Sql, sql } from '../../db/sql.ts';
import { NOW } from '../../db/time.ts';
import { type ExecutorScope, inScope } from './placement.ts';

/** How the runs of many owners share the workers. */
export interface Fairness {
  /** `none`: first come, first served. */
  readonly fair_by: 'owner' | 'none';
  /** Concurrent runs of an owner, over all processes; `undefined`: no limit. */
  readonly max_per_owner?: number | undefined;
}

/** Which runs the next claim of this process takes. */
export interface ClaimRules {
  readonly fairness: Fairness;
  /** Whose turn it was at the last claim of this process, and how many claims there were. */
  readonly turn: { last_owner: string; claims: number };
}

/** Whether claims take owners in turn; a limit needs that too. */
export function isByOwner({ fair_by, max_per_owner }: Fairness): boolean {
  return fair_by === 'owner' || max_per_owner !== undefined;
}

/** Orders of the queue; each has its index. */
const BY_AGE = sql`not_before, seq`;
const BY_PRIORITY = sql`priority desc, not_before, seq`;

/** One claim in so many goes by age alone, so that runs of a low priority start however many others arrive. */
const CLAIMS_PER_TURN = 8;

/**
 * The due runs with the highest priority, or those of the owners whose turn it is. In every turn of eight claims one
 * ignores priorities, and with fairness another one takes runs without an owner, which were enqueued before the queue
 * became fair.
 */
export async function dueRuns(
  tx: Pick<Transaction, 'get' | 'all'>,
  { fairness, turn }: ClaimRules,
  limit: number,
  scope?: ExecutorScope,
): Promise<Sql> {
  const mine = inScope(scope);
  const ready = sql`select seq from run_queue where state = 'ready' and not_before <= ${NOW}${mine}`;
  const place = ++turn.claims % CLAIMS_PER_TURN;
  const order = place === CLAIMS_PER_TURN / 2 ? BY_AGE : BY_PRIORITY;
  if (!isByOwner(fairness)) return sql`${ready} order by ${order} limit ${limit}`;
  const { max_per_owner } = fairness;
  const ownerless = sql`${ready} and owner is null order by ${BY_AGE} limit`;
  const isTurnOfOthers = place === 0 && (await tx.get(sql`${ownerless} 1`)) !== undefined;
  const owners = isTurnOfOthers
    ? []
    : await ownersInTurn(tx, { cursor: turn.last_owner, limit, max_per_owner, mine }, turn);
  return owners.length > 0
    ? sql`select seq from run_queue where seq in (${dueInTurn(owners, { limit, order, mine })}) and state = 'ready'`
    : sql`${ownerless} ${limit}`;
}

/** Owners to serve next, and how many further runs each may have. */
interface OwnerTurn {
  readonly owner: string;
  readonly allowed: number;
}

const OWNER = notNull(columns('run_queue', 'owner'));
const RUNNING = number('running');

/** Claims that must count the running runs of an owner come one after the other, over all processes. */
const LOCK: DialectSql = {
  sqlite: raw('select 1'),
  postgres: raw('select pg_advisory_xact_lock(4919131752989213765)'),
};

interface OwnerQuery {
  readonly cursor: string;
  readonly limit: number;
  readonly max_per_owner?: number | undefined;
  /** Restricts the runs to those that this worker claims. */
  readonly mine: Sql;
}

/** Owners that a claim looks at, at most, to find some that are below their limit. */
const MAX_OWNERS = 100;

/** The next owners in turn that may have further runs; moves the turn on behind the last of them. */
async function ownersInTurn(
  tx: Pick<Transaction, 'get' | 'all'>,
  { limit, max_per_owner, ...query }: OwnerQuery,
  turn: ClaimRules['turn'],
): Promise<OwnerTurn[]> {
  // No owner is passed over without a limit.
  const page = max_per_owner === undefined ? limit : Math.max(limit, MAX_OWNERS);
  const owners = await nextOwners(tx, { ...query, limit: page, max_per_owner });
  const able = owners.filter(({ allowed }) => allowed > 0).slice(0, limit);
  const last = able.length === limit ? able.at(-1) : owners.at(-1);
  turn.last_owner = last?.owner ?? turn.last_owner;
  return able;
}

/**
 * The owners with due runs that come after `cursor`, at most `limit`, and from the first one on again. A skip scan: its
 * cost grows with `limit`, not with the runs that wait. Owners whose runs are all in back-off have no turn: a claim that
 * spends its slots on them would find nothing, although runs of others are due.
 */
async function nextOwners(
  tx: Pick<Transaction, 'get' | 'all'>,
  { cursor, limit, max_per_owner, mine }: OwnerQuery,
): Promise<OwnerTurn[]> {
  if (max_per_owner !== undefined) await tx.get(sql`${LOCK}`);
  const after = await ownersFrom(tx, sql`q.owner > ${cursor}${mine}`, limit);
  const first =
    after.length < limit ? await ownersFrom(tx, sql`q.owner <= ${cursor}${mine}`, limit - after.length) : [];
  return [...after, ...first]
    .map(({ owner, running }) => ({
      owner,
      allowed: Math.min(limit, (max_per_owner ?? limit + running) - running),
    }))
    .map((turn) => ({ ...turn, allowed: Math.max(0, turn.allowed) }));
}

function ownersFrom(tx: Pick<Transaction, 'all'>, where: Sql, limit: number) {
  const due = sql`q.state = 'ready' and q.owner is not null and q.not_before <= ${NOW}`;
  return tx.all(sql`
    with recursive found (owner, n) as (
      select (select min(q.owner) from run_queue q
        where ${due} and ${where}), 1
      union all
      select (select min(q.owner) from run_queue q
        where ${due} and q.owner > found.owner and ${where}), n + 1
      from found where found.owner is not null and n < ${limit}
    )
    select ${OWNER}, (select count(*) from run_queue r
      where r.state = 'running' and r.owner is not null and r.owner = found.owner) as ${RUNNING}
    from found where owner is not null order by n`);
}

/**
 * `seq` of the runs to claim: the first of each owner, then the second of each, and so on; at most `limit`. Priorities
 * therefore order the runs of an owner, and take nothing from others.
 */
function dueInTurn(
  turns: readonly OwnerTurn[],
  { limit, order, mine }: { limit: number; order: Sql; mine: Sql },
): Sql {
  const candidates = turns
    .filter(({ allowed }) => allowed > 0)
    .map(
      ({ owner, allowed }) => sql`
        select seq, priority, not_before, row_number() over (order by ${order}) as turn from (
          select seq, priority, not_before from run_queue
          where state = 'ready' and owner is not null and owner = ${owner} and not_before <= ${NOW}${mine}
          order by ${order} limit ${allowed}) as first`,
    );
  return sql`select seq from (${join(candidates, ' union all ')}) as candidates
    order by turn, ${order} limit ${limit}`;
}

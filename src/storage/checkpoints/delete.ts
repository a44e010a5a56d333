import { nullable, number, text } from '../../db/columns.ts';
import type { Transaction } from '../../db/db.ts';
import { jsonEachText } from '../../db/json.ts';
import { lateralJoin } from '../../db/lateral-join.ts';
import { type DialectSql, raw, sql } from '../../db/sql.ts';
import { latestReadable } from './find.ts';
import { metadataContains } from './metadata.ts';
import { BASE_VERSIONS } from './rows.ts';

/** Deletes all checkpoints of a thread, with their values and writes. */
export function deleteCheckpointsOfThread(tx: Transaction, thread_id: string): void {
  tx.defer(sql`delete from checkpoint_writes where thread_id = ${thread_id}`);
  tx.defer(sql`delete from checkpoint_blobs where thread_id = ${thread_id}`);
  tx.defer(sql`delete from checkpoints where thread_id = ${thread_id}`);
}

/**
 * Rolls back what a run wrote to its thread's history, except what others build on (invariant 7): an ancestor of
 * another run's checkpoint stays with the writes that led on from it, and everything stays while another run executes,
 * as that one may have started from any of it.
 */
export async function deleteCheckpointsOfRun(
  tx: Transaction,
  thread_id: string,
  run_id: string,
): Promise<void> {
  const other = await tx.get(sql`select 1 from run_queue
    where thread_id = ${thread_id} and state = 'running' and run_id <> ${run_id}`);
  if (other) return;
  const checkpoints = await deleteCheckpoints(tx, thread_id, run_id);
  const writes = await deleteWrites(tx, thread_id, run_id);
  if (checkpoints + writes === 0) return;
  await restoreWrites(tx, thread_id, run_id);
  await deleteUnreferencedBlobs(tx, thread_id);
}

function deleteCheckpoints(tx: Transaction, thread_id: string, run_id: string): Promise<number> {
  return tx.run(sql`
    with recursive needed (ns, checkpoint_id) as (
      select ns, parent_id from checkpoints
      where thread_id = ${thread_id} and run_id is distinct from ${run_id} and parent_id is not null
      union
      select c.ns, c.parent_id from needed n ${lateralJoin(
        'checkpoints',
        'c',
        sql`c.thread_id = ${thread_id} and c.ns = n.ns and c.checkpoint_id = n.checkpoint_id`,
      )} and c.run_id = ${run_id} and c.parent_id is not null
    )
    delete from checkpoints where thread_id = ${thread_id} and run_id = ${run_id}
      and (ns, checkpoint_id) not in (select ns, checkpoint_id from needed)`);
}

/** Writes at deleted checkpoints, and the run's own at an older checkpoint without a child of the run. */
function deleteWrites(tx: Transaction, thread_id: string, run_id: string): Promise<number> {
  return tx.run(sql`
    delete from checkpoint_writes where thread_id = ${thread_id} and (
      not exists (
        select 1 from checkpoints c where c.thread_id = ${thread_id} and c.ns = checkpoint_writes.ns
          and c.checkpoint_id = checkpoint_writes.checkpoint_id)
      or run_id = ${run_id} and not exists (
        select 1 from checkpoints c where c.thread_id = ${thread_id} and c.ns = checkpoint_writes.ns
          and c.parent_id = checkpoint_writes.checkpoint_id and c.run_id = ${run_id}))`);
}

/** Restores the writes that the run superseded. */
async function restoreWrites(tx: Transaction, thread_id: string, run_id: string): Promise<void> {
  await tx.run(sql`
    update checkpoint_writes set superseded_by = '' where thread_id = ${thread_id} and superseded_by = ${run_id}
      and not exists (
        select 1 from checkpoint_writes w where w.thread_id = ${thread_id} and w.ns = checkpoint_writes.ns
          and w.checkpoint_id = checkpoint_writes.checkpoint_id and w.task_id = checkpoint_writes.task_id
          and w.idx = checkpoint_writes.idx and w.superseded_by = '')`);
}

/**
 * SQLite looks each value up in an index of the list that it makes once. PostgreSQL expects the list to be too long for
 * that, and reads all of it for each value, but joins it in order when asked so.
 */
const NOT_WANTED: DialectSql = {
  sqlite: raw('(ns, channel, version) not in (select ns, channel, version from wanted)'),
  postgres: raw(`not exists (select 1 from wanted w where w.ns = checkpoint_blobs.ns
    and w.channel = checkpoint_blobs.channel and w.version = checkpoint_blobs.version)`),
};

/** Values that no checkpoint references and no other value is based on. */
async function deleteUnreferencedBlobs(tx: Transaction, thread_id: string): Promise<void> {
  await tx.run(sql`
    with recursive wanted (thread_id, ns, channel, version) as (
      select c.thread_id, c.ns, v.key, cast(v.value as text)
      from checkpoints c cross join ${jsonEachText('c.versions', 'v')} where c.thread_id = ${thread_id}
      union
      ${BASE_VERSIONS}
    )
    delete from checkpoint_blobs where thread_id = ${thread_id} and ${NOT_WANTED}`);
}

/**
 * Deletes the history of an idle thread, except for the newest checkpoint and the state of subgraphs that continue from
 * it. Values, next steps and interrupts of the thread are unchanged. If a part of the newest is unreadable, the newest
 * readable one stays too: it is the last good state.
 */
export async function keepLatestCheckpoint(tx: Transaction, thread_id: string): Promise<void> {
  const newest = await tx.get(
    sql`select max(checkpoint_id) as ${nullable(text('id'))}, count(*) as ${number('count')} from checkpoints
      where thread_id = ${thread_id} and ns = ''`,
  );
  if (!newest?.id) return;
  const readable_id = newest.count > 1 ? await latestReadable(tx, thread_id) : undefined;
  if ((await deleteOlder(tx, thread_id, newest.id, readable_id ?? newest.id)) === 0) return;
  await tx.run(sql`
    update checkpoints set parent_id = null where thread_id = ${thread_id} and parent_id is not null
      and not exists (select 1 from checkpoints p where p.thread_id = ${thread_id} and p.ns = checkpoints.ns
        and p.checkpoint_id = checkpoints.parent_id)`);
  await tx.run(sql`
    delete from checkpoint_writes where thread_id = ${thread_id} and not exists (
      select 1 from checkpoints c where c.thread_id = ${thread_id} and c.ns = checkpoint_writes.ns
        and c.checkpoint_id = checkpoint_writes.checkpoint_id)`);
  await deleteUnreferencedBlobs(tx, thread_id);
}

/**
 * The namespace of a stateful subgraph is its name alone; that of a single call also has the call's task (`name:task`),
 * and matters only to a resume from the newest checkpoint. A `DeltaChannel` is rebuilt from the writes of ancestors: as
 * long as LangGraph counts them in the metadata, the parent is required too.
 */
function deleteOlder(
  tx: Transaction,
  thread_id: string,
  newest_id: string,
  readable_id: string,
): Promise<number> {
  const calledFrom = (id: string) => metadataContains(tx.cipher, 'c.metadata', { parents: { '': id } });
  return tx.run(sql`
    with recursive
      last (ns, checkpoint_id) as (
        select ns, max(checkpoint_id) from checkpoints where thread_id = ${thread_id} group by ns
      ),
      needed (ns, checkpoint_id) as (
        select c.ns, c.checkpoint_id from last cross join checkpoints c
        where c.thread_id = ${thread_id} and c.ns = last.ns
          and (c.checkpoint_id = last.checkpoint_id
              and (c.ns not like '%:%' or ${calledFrom(newest_id)} or ${calledFrom(readable_id)})
            or c.ns = '' and c.checkpoint_id = ${readable_id})
        union
        select c.ns, c.parent_id from needed n cross join checkpoints c
        where c.thread_id = ${thread_id} and c.ns = n.ns and c.checkpoint_id = n.checkpoint_id
          and c.parent_id is not null and c.metadata ->> 'counters_since_delta_snapshot' is not null
      )
    delete from checkpoints where thread_id = ${thread_id}
      and (ns, checkpoint_id) not in (select ns, checkpoint_id from needed)`);
}

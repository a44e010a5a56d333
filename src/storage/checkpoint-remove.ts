import { BASES } from './checkpoint-rows.ts';
import type { Transaction } from './db.ts';
import { eachText } from './json.ts';
import { lookUp } from './look-up.ts';
import { sql } from './sql.ts';

/** Everything a thread remembers. */
export async function removeCheckpointsOfThread(tx: Transaction, thread_id: string): Promise<void> {
  await tx.run(sql`delete from checkpoint_writes where thread_id = ${thread_id}`);
  await tx.run(sql`delete from checkpoint_blobs where thread_id = ${thread_id}`);
  await tx.run(sql`delete from checkpoints where thread_id = ${thread_id}`);
}

/**
 * Takes back what a run wrote to its thread's history, but for what others go on from (invariant 7): an ancestor of
 * another run's checkpoint stays with the writes that led on from it, and all stays while another run executes, for
 * that one may have started from any of it.
 */
export async function removeCheckpointsOfRun(
  tx: Transaction,
  thread_id: string,
  run_id: string,
): Promise<void> {
  const other = await tx.get(sql`select 1 from run_queue
    where thread_id = ${thread_id} and state = 'running' and run_id <> ${run_id}`);
  if (other) return;
  const checkpoints = await removeCheckpoints(tx, thread_id, run_id);
  const writes = await removeWrites(tx, thread_id, run_id);
  if (checkpoints + writes === 0) return;
  await restoreWrites(tx, thread_id, run_id);
  await removeLooseBlobs(tx, thread_id);
}

function removeCheckpoints(tx: Transaction, thread_id: string, run_id: string): Promise<number> {
  return tx.run(sql`
    with recursive needed (ns, checkpoint_id) as (
      select ns, parent_id from checkpoints
      where thread_id = ${thread_id} and run_id is distinct from ${run_id} and parent_id is not null
      union
      select c.ns, c.parent_id from needed n ${lookUp(
        'checkpoints',
        'c',
        sql`c.thread_id = ${thread_id} and c.ns = n.ns and c.checkpoint_id = n.checkpoint_id`,
      )} and c.run_id = ${run_id} and c.parent_id is not null
    )
    delete from checkpoints where thread_id = ${thread_id} and run_id = ${run_id}
      and (ns, checkpoint_id) not in (select ns, checkpoint_id from needed)`);
}

/** Those at a checkpoint that is gone, and the run's own at a checkpoint of before which none of the run's follows. */
function removeWrites(tx: Transaction, thread_id: string, run_id: string): Promise<number> {
  return tx.run(sql`
    delete from checkpoint_writes where thread_id = ${thread_id} and (
      not exists (
        select 1 from checkpoints c where c.thread_id = ${thread_id} and c.ns = checkpoint_writes.ns
          and c.checkpoint_id = checkpoint_writes.checkpoint_id)
      or run_id = ${run_id} and not exists (
        select 1 from checkpoints c where c.thread_id = ${thread_id} and c.ns = checkpoint_writes.ns
          and c.parent_id = checkpoint_writes.checkpoint_id and c.run_id = ${run_id}))`);
}

/** What the run had put aside counts again. */
async function restoreWrites(tx: Transaction, thread_id: string, run_id: string): Promise<void> {
  await tx.run(sql`
    update checkpoint_writes set superseded_by = '' where thread_id = ${thread_id} and superseded_by = ${run_id}
      and not exists (
        select 1 from checkpoint_writes w where w.thread_id = ${thread_id} and w.ns = checkpoint_writes.ns
          and w.checkpoint_id = checkpoint_writes.checkpoint_id and w.task_id = checkpoint_writes.task_id
          and w.idx = checkpoint_writes.idx and w.superseded_by = '')`);
}

/** Values that no checkpoint has and no other value is based on. */
export async function removeLooseBlobs(tx: Transaction, thread_id: string): Promise<void> {
  await tx.run(sql`
    with recursive wanted (thread_id, ns, channel, version) as (
      select c.thread_id, c.ns, v.key, cast(v.value as text)
      from checkpoints c cross join ${eachText('c.versions', 'v')} where c.thread_id = ${thread_id}
      union
      ${BASES}
    )
    delete from checkpoint_blobs where thread_id = ${thread_id}
      and (ns, channel, version) not in (select ns, channel, version from wanted)`);
}

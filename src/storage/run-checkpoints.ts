import type { Db, Transaction } from './db.ts';
import type { OpenAttempts } from './open-attempts.ts';
import { sql } from './sql.ts';

/** The graph of a run has made a checkpoint; the frames up to `seq` tell everything that is in it. */
export interface RunCheckpoint {
  readonly run_id: string;
  readonly checkpoint_id: string;
  readonly seq: number;
}

export type RunCheckpointRepository = ReturnType<typeof runCheckpointRepository>;

/** Where the checkpoints of resumable runs stand in their logs. */
export function runCheckpointRepository(db: Db, open?: OpenAttempts) {
  return {
    /** The number of the last frame before the checkpoint; undefined when it is none of the run's. */
    async seqOf(thread_id: string, run_id: string, checkpoint_id: string): Promise<number | undefined> {
      await open?.readable(thread_id);
      const row = await db.get<{ seq: number }>(sql`
        select seq from run_checkpoints where run_id = ${run_id} and checkpoint_id = ${checkpoint_id}`);
      return row?.seq;
    },
  };
}

/** Part of a transaction that has checked the lease. */
export async function insertRunCheckpoint(tx: Transaction, checkpoint: RunCheckpoint): Promise<void> {
  const { run_id, checkpoint_id, seq } = checkpoint;
  await tx.run(sql`
    insert into run_checkpoints (run_id, checkpoint_id, seq) values (${run_id}, ${checkpoint_id}, ${seq})
    on conflict (run_id, checkpoint_id) do nothing`);
}

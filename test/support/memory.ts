import { randomUUID } from 'node:crypto';
import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint';
import { systemClock } from '../../src/core/clock.ts';
import { systemIds } from '../../src/core/ids.ts';
import { number } from '../../src/db/columns.ts';
import type { Db } from '../../src/db/db.ts';
import { raw, sql } from '../../src/db/sql.ts';
import { runCheckpointer, threadCheckpointer } from '../../src/graphs/checkpointer/open.ts';
import type { RunKwargs } from '../../src/schemas/runs.ts';
import {
  type CheckpointRepository,
  checkpointRepository,
} from '../../src/storage/checkpoints/checkpoints.ts';
import type { Lease } from '../../src/storage/runs/lease.ts';
import type { WriteBuffer } from '../../src/storage/runs/write-buffer.ts';
import { attemptWrites } from './queued-runs.ts';

const AT = '2026-11-20T12:00:00.000Z';

/** A thread on which runs execute, one after the other, without a worker. */
export interface Memory {
  readonly db: Db;
  readonly thread_id: string;
  readonly checkpoints: CheckpointRepository;
  readonly config: { configurable: { thread_id: string } };
  /** Begins a run; the one before ends. */
  begin(): Promise<Lease>;
  /** What an attempt writes with. */
  writes(lease: Lease): WriteBuffer;
  /** Commits what the last attempt wrote, and ends its run. */
  end(): Promise<void>;
  /** What a run that begins now remembers with. */
  run(durability?: RunKwargs['durability']): Promise<BaseCheckpointSaver>;
  /** What one that has begun does. */
  of(lease: Lease, durability?: RunKwargs['durability']): BaseCheckpointSaver;
  /** What a request outside of runs does, after all that was written. */
  outside(): Promise<BaseCheckpointSaver>;
  count(table: 'checkpoints' | 'checkpoint_blobs' | 'checkpoint_writes'): Promise<number>;
}

export async function memoryOf(db: Db, thread_id: string = randomUUID()): Promise<Memory> {
  const checkpoints = checkpointRepository(db);
  await db.run(sql`insert into threads (thread_id, status, metadata, config, created_at, updated_at, state_updated_at)
    values (${thread_id}, 'idle', '{}', '{}', ${AT}, ${AT}, ${AT})`);
  let last: WriteBuffer | undefined;
  const memory: Memory = {
    db,
    thread_id,
    checkpoints,
    config: { configurable: { thread_id } },
    async begin() {
      await memory.end();
      const lease = { run_id: randomUUID(), thread_id, token: randomUUID(), attempt: 1, starts: 1 };
      await db.run(sql`insert into run_queue (run_id, thread_id, state, not_before, lease_token)
        values (${lease.run_id}, ${thread_id}, 'running', ${AT}, ${lease.token})`);
      return lease;
    },
    writes: (lease) => attemptWrites(db, lease),
    async end() {
      await last?.commit();
      last = undefined;
      await db.run(sql`delete from run_queue where thread_id = ${thread_id}`);
    },
    run: async (durability) => memory.of(await memory.begin(), durability),
    of(lease, durability = 'async') {
      last = memory.writes(lease);
      return saver(runCheckpointer({ checkpoints, writes: last, lease, durability, record: 'off' }));
    },
    async outside() {
      await last?.commit();
      return saver(threadCheckpointer({ checkpoints, thread_id, ids: systemIds(systemClock) }));
    },
    async count(table) {
      const row = await db.get(
        sql`select count(*) as ${number('n')} from ${raw(table)} where thread_id = ${thread_id}`,
      );
      return Number(row?.n);
    },
  };
  return memory;
}

/** Its versions are text, and LangGraph's types know numbers only. */
function saver(checkpointer: object): BaseCheckpointSaver {
  return checkpointer as BaseCheckpointSaver;
}

import { randomUUID } from 'node:crypto';
import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Db } from '../../src/db/db.ts';
import { raw, sql } from '../../src/db/sql.ts';
import { runCheckpointer } from '../../src/graphs/checkpointer/open.ts';
import { checkpointRepository } from '../../src/storage/checkpoints/checkpoints.ts';
import { describeEachDatabase } from '../support/databases.ts';
import { attemptWrites } from '../support/queued-runs.ts';

// The suite that the makers of LangGraph publish for savers takes vitest's functions from the global scope.
Object.assign(globalThis, { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it });
const { deltaChannelHistoryTests, validate } = await import('@langchain/langgraph-checkpoint-validation');

describeEachDatabase('the checkpointer in the validation of LangGraph', (open) => {
  let db: Db | undefined;

  afterAll(async () => {
    await db?.[Symbol.asyncDispose]();
  });

  const saver = {
    checkpointerName: 'agent-server',
    async createCheckpointer() {
      db ??= await open();
      for (const table of ['checkpoints', 'checkpoint_blobs', 'checkpoint_writes', 'run_queue']) {
        await db.run(sql`delete from ${raw(table)}`);
      }
      const lease = {
        run_id: randomUUID(),
        thread_id: randomUUID(),
        token: randomUUID(),
        attempt: 1,
        starts: 1,
      };
      await db.run(sql`insert into run_queue (run_id, thread_id, state, not_before, lease_token)
        values (${lease.run_id}, ${lease.thread_id}, 'running', '2026-01-01T00:00:00.000Z', ${lease.token})`);
      const checkpoints = checkpointRepository(db);
      const writes = attemptWrites(db, lease);
      return runCheckpointer({
        checkpoints,
        writes,
        lease,
        durability: 'async',
        record: 'off',
      }) as unknown as BaseCheckpointSaver;
    },
  };

  validate(saver);
  deltaChannelHistoryTests(saver);
});

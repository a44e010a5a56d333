import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { ServerInfo } from '../../src/db/engines/postgres-server.ts';
import { checkConnections, poolSizes } from '../../src/storage/pool-sizes.ts';
import { runQueue } from '../../src/storage/queue/queue.ts';
import { describeEachDatabase } from '../support/databases.ts';
import { failure, naming } from '../support/naming.ts';

describe('the connections of a process', () => {
  test('are divided between its pools, with at least one each', () => {
    expect(poolSizes()).toEqual({ total: 20, requests: 10, work: 8, heartbeat: 1, listener: 1 });
    expect(poolSizes(5)).toEqual({ total: 5, requests: 2, work: 1, heartbeat: 1, listener: 1 });
    for (let total = 5; total <= 1000; total++) {
      const { requests, work, heartbeat, listener } = poolSizes(total);
      expect([requests + work + heartbeat + listener, work > 0]).toEqual([total, true]);
    }
  });
});

describeEachDatabase('the connections of all processes', (open) => {
  const info = (allowed_connections: number, is_pooled = false): ServerInfo => ({
    version: '15.8',
    is_pooled,
    allowed_connections,
  });

  test('are compared with those that the server grants', async () => {
    await using db = await open();
    const check = (allowed: number, is_pooled?: boolean) =>
      checkConnections(db, info(allowed, is_pooled), poolSizes());
    expect(await check(20)).toBeUndefined();
    expect(await check(Number.POSITIVE_INFINITY)).toBeUndefined();
    await expect(check(19)).rejects.toThrow(failure(Error, 20, 19, 'storage.max_connections'));
    expect(await check(1, true)).toBeUndefined();

    const queue = runQueue(db);
    for (const pid of [1, 2]) {
      const worker = { worker_id: randomUUID(), host: 'here', pid, version: '1', slots: 1 };
      await queue.heartbeat(worker, 20_000);
    }
    expect(await check(60)).toBeUndefined();
    expect(await check(59)).toEqual(naming('3 processes', '60 connections', 59));
  });
});

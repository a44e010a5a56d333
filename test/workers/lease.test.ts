import { expect, test } from 'vitest';
import { silentLogger } from '../../src/core/logger.ts';
import { loopLease } from '../../src/workers/lease.ts';
import { WORKER } from '../support/queued-runs.ts';

test('a lease renewal that is more than an interval late is counted', async () => {
  // A lease of 40 ms is renewed every 10 ms. The times of the renewals, ms:
  const renewals = [0, 10, 30, 51, 61];
  const enough = Promise.withResolvers<void>();
  const clock = {
    monotonic() {
      if (renewals.length === 1) enough.resolve();
      return renewals.length > 1 ? (renewals.shift() as number) : (renewals[0] as number);
    },
  };
  const lease = loopLease(
    { heartbeat: async () => {} },
    { worker: { ...WORKER, graph_ids: [] }, slots: () => 1, lease_ms: 40, logger: silentLogger },
    clock,
  );
  lease.start();
  await enough.promise;
  await lease.stop();
  expect(lease.late_renewals).toBe(1);
});

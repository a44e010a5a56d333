import { expect, test } from 'vitest';
import { StopOrders } from '../../src/hosts/pool/stop-orders.ts';

const RUN = { run_id: '4e7b52c1-0b3f-4d0a-9c55-2f8f6b1d7a01', graph: 'agent', attempt: 2 };
const OTHER = '4e7b52c1-0b3f-4d0a-9c55-2f8f6b1d7a02';
const answer = (turns: number, blocked_ms = 0) => ({ turns, blocked_ms, rss_bytes: 1 });

test.each([
  ['a run', RUN, { run_id: RUN.run_id, at: 'graph.ts:1:1' }],
  ['code of no run', undefined, { at: 'auth.ts:1:1' }],
])(
  'an order to stop %s stays in force while the host reports a block that is too short to count',
  (_of, run, place) => {
    const orders = new StopOrders();
    orders.add(run);
    // The event loop counted its last turn before it read the order, and the watch noticed that turn late.
    for (const status of [answer(6), answer(7), answer(8), answer(8, 1500), answer(8, 6500)])
      orders.onStatus(status);
    expect(orders.disobeyedAt(place)).toMatchObject({ run });
  },
);

test('an order to stop is fulfilled once the event loop has read it', () => {
  const orders = new StopOrders();
  orders.add(RUN);
  orders.add(undefined);
  for (const status of [answer(7), answer(8), answer(10)]) orders.onStatus(status);
  expect(orders.disobeyedAt({ run_id: RUN.run_id })).toBeUndefined();
  expect(orders.disobeyedAt({ at: 'auth.ts:1:1' })).toBeUndefined();
});

test('a repeated order to stop restarts its time limit', () => {
  const orders = new StopOrders();
  orders.add(RUN);
  for (const status of [answer(7), answer(8)]) orders.onStatus(status);
  orders.add(RUN);
  orders.onStatus(answer(10));
  expect(orders.disobeyedAt({ run_id: RUN.run_id })).toMatchObject({ run: RUN });
});

test('an order to stop one run does not stop another one', () => {
  const orders = new StopOrders();
  orders.add(RUN);
  expect(orders.disobeyedAt({ run_id: OTHER, at: 'graph.ts:1:1' })).toBeUndefined();
  expect(orders.disobeyedAt(undefined)).toMatchObject({ run: RUN });
});

import { expect, test } from 'vitest';
import { StopOrders } from '../../src/hosts/pool/stop-orders.ts';

const RUN = '4e7b52c1-0b3f-4d0a-9c55-2f8f6b1d7a01';
const OTHER = '4e7b52c1-0b3f-4d0a-9c55-2f8f6b1d7a02';
const answer = (turns: number, blocked_ms = 0) => ({ turns, blocked_ms, rss_bytes: 1 });

test.each([
  ['a run', RUN, { run_id: RUN, at: 'graph.ts:1:1' }],
  ['code of no run', undefined, { at: 'auth.ts:1:1' }],
])(
  'an order to stop %s lasts while an answer says that its blocking is too short to count',
  (_of, run_id, place) => {
    const orders = new StopOrders();
    orders.add(run_id);
    // The event loop counted its last turn before it read the order, and the watch noticed that turn late.
    for (const status of [answer(6), answer(7), answer(8), answer(8, 1500), answer(8, 6500)])
      orders.onStatus(status);
    expect(orders.disobeyedAt(place)).toEqual({ run_id });
  },
);

test('an order ends once the event loop has read it', () => {
  const orders = new StopOrders();
  orders.add(RUN);
  orders.add(undefined);
  for (const status of [answer(7), answer(8), answer(10)]) orders.onStatus(status);
  expect(orders.disobeyedAt({ run_id: RUN })).toBeUndefined();
  expect(orders.disobeyedAt({ at: 'auth.ts:1:1' })).toBeUndefined();
});

test('an order that is given again lasts as a new one', () => {
  const orders = new StopOrders();
  orders.add(RUN);
  for (const status of [answer(7), answer(8)]) orders.onStatus(status);
  orders.add(RUN);
  orders.onStatus(answer(10));
  expect(orders.disobeyedAt({ run_id: RUN })).toEqual({ run_id: RUN });
});

test('a run that may go on is not taken for one that was to stop', () => {
  const orders = new StopOrders();
  orders.add(RUN);
  expect(orders.disobeyedAt({ run_id: OTHER, at: 'graph.ts:1:1' })).toBeUndefined();
  expect(orders.disobeyedAt(undefined)).toEqual({ run_id: RUN });
});

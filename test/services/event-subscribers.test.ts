import { expect, test } from 'vitest';
import { eventFilter } from '../../src/services/event-streaming/filter.ts';
import { Subscriber } from '../../src/services/event-streaming/subscriber.ts';

test('a subscriber gets no event of a thread that is deleted before the event is read, and those after its return', async () => {
  const sent: number[] = [];
  const sink = {
    send: ({ seq }: { seq: number }) => sent.push(seq),
    isFull: () => false,
    drained: async () => {},
  };
  const found = ['missing', 'visible'] as const;
  let checks = 0;
  const subscriber = new Subscriber(sink, { access: async () => found[checks++] ?? 'visible' });
  void subscriber.subscribe('all', eventFilter({ channels: ['custom'] }), 0);
  subscriber.beginReplay();
  for (const seq of [1, 2, 3]) {
    await subscriber.authorize('run');
    subscriber.offer({ seq, method: 'custom', channel: 'custom', namespace: [], text: '{}' });
  }
  expect(sent).toEqual([2, 3]);
  expect(checks).toBe(2);
  expect(subscriber.refused.aborted).toBe(false);
});

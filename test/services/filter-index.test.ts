import { expect, test } from 'vitest';
import { CommandError } from '../../src/services/event-streaming/command-errors.ts';
import { eventFilter } from '../../src/services/event-streaming/filter.ts';
import { FilterIndex } from '../../src/services/event-streaming/filter-index.ts';
import type { ProtocolEvent } from '../../src/services/event-streaming/protocol-events.ts';
import { Subscriber } from '../../src/services/event-streaming/subscriber.ts';

const event = (channel: string, namespace: string[], seq = 1) =>
  ({ channel, namespace, seq, text: '' }) as unknown as ProtocolEvent;

const FILTERS = {
  everything: { channels: ['values', 'custom'] },
  root: { channels: ['values'], namespaces: [[]], depth: 0 },
  child: { channels: ['values'], namespaces: [['child']] },
  task: { channels: ['values'], namespaces: [['child:1']] },
  near: { channels: ['values'], namespaces: [['child']], depth: 1 },
  either: { channels: ['values'], namespaces: [['other'], ['child', 'leaf:2']] },
  named: { channels: ['custom:a'] },
};

function matching(sent: ProtocolEvent): string[] {
  const index = new FilterIndex<string>();
  for (const [name, filter] of Object.entries(FILTERS)) index.add(eventFilter(filter), name);
  return [...index.matching(sent)].sort();
}

test.each([
  ['values', [], ['everything', 'root']],
  ['values', ['child:1'], ['child', 'everything', 'near', 'task']],
  ['values', ['child:2', 'leaf:2'], ['child', 'either', 'everything', 'near']],
  ['values', ['child:1', 'leaf:1', 'deep:1'], ['child', 'everything', 'task']],
  ['values', ['children:1'], ['everything']],
  ['updates', ['child:1'], []],
  ['custom:a', [], ['everything', 'named']],
  ['custom:b', [], ['everything']],
])('an event of channel %s at %j is sent to the matching subscriptions', (channel, namespace, names) => {
  expect(matching(event(channel, namespace))).toEqual(names);
});

test('an event is compared only with the subscriptions on its path', () => {
  let compared = 0;
  const counted = Object.assign(new Set(['values']), {
    has() {
      compared += 1;
      return false;
    },
  });
  const index = new FilterIndex<number>();
  for (let n = 0; n < 1024; n++)
    index.add({ channels: counted, namespaces: [[`node-${n}`]], depth: undefined }, n);
  expect([...index.matching(event('values', ['node-7:1']))]).toEqual([]);
  expect(compared).toBe(1);
});

test('the subscriptions of a connection have at most 1,024 namespaces together', () => {
  const sink = { send: () => {}, isFull: () => false, drained: async () => {} };
  const subscriber = new Subscriber(sink);
  const filter = (count: number) =>
    eventFilter({ channels: ['values'], namespaces: Array.from({ length: count }, (_, n) => [`${n}`]) });
  for (const id of ['a', 'b', 'c', 'd']) void subscriber.subscribe(id, filter(256), 0);
  expect(() => subscriber.subscribe('e', filter(1), 0)).toThrow(CommandError);
  // Replaces its own.
  void subscriber.subscribe('d', filter(255), 0);
  void subscriber.subscribe('e', filter(1), 0);
  expect(subscriber.unsubscribe('a')).toBe(true);
});

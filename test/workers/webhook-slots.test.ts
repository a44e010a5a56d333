import { expect, test } from 'vitest';
import { DeliverySlots } from '../../src/workers/webhook-slots.ts';

test('a webhook host that has responded may use all slots, until it fails to respond', () => {
  const slots = new DeliverySlots({ concurrency: 8, concurrency_per_host: 8 });
  expect(slots.free('a.example:443')).toBe(2);
  slots.tried('a.example:443', true);
  expect(slots.free('a.example:443')).toBe(8);
  slots.tried('a.example:443', false);
  expect(slots.free('a.example:443')).toBe(1);
});

test('names and ports of a domain share its webhook slots, and IP addresses have their own', () => {
  const slots = new DeliverySlots({ concurrency: 16, concurrency_per_host: 4 });
  const hosts = ['a.evil.example:1', 'b.evil.example:2', 'evil.example', 'c.b.evil.example'];
  for (const host of hosts) slots.take(host);
  expect(slots.free('d.evil.example')).toBe(0);
  for (const host of ['10.0.0.1:80', '10.0.0.2:80', '[2606:2800::1]:80']) {
    expect(slots.free(host)).toBeGreaterThan(0);
    slots.take(host);
  }
  slots.take('good.test');
  expect(slots.free('other.test')).toBe(0);
});

test('a released webhook slot can be taken again', () => {
  const slots = new DeliverySlots({ concurrency: 1, concurrency_per_host: 4 });
  expect(slots.free('a.example')).toBe(1);
  const slot = slots.take('a.example');
  slots.tried('a.example', true);
  expect(slots.free('b.example')).toBe(0);
  slot[Symbol.dispose]();
  expect(slots.free('b.example')).toBe(1);
});

import { uuid6 } from '@langchain/langgraph-checkpoint';
import { expect, test } from 'vitest';
import { firstUuid6, isUuid, systemAssistantId, systemIds, uuid6Time } from '../../src/core/ids.ts';

/** A clock that the test sets. */
function clockAt(ms: number) {
  return { now: () => ms, monotonic: () => 0, set: (next: number) => (ms = next) };
}

test('ids of one process sort by creation, even within a millisecond and when the clock is set back', () => {
  const clock = clockAt(1_800_000_000_000);
  const ids = systemIds(clock);
  const made = Array.from({ length: 10_000 }, () => ids.uuid7());
  clock.set(1_700_000_000_000);
  made.push(ids.uuid7());
  expect(made.toSorted()).toEqual(made);
  expect(new Set(made).size).toBe(made.length);
  expect(made.every((id) => isUuid(id) && id[14] === '7' && '89ab'.includes(id[19] as string))).toBe(true);
});

test('an id contains the time of its creation', () => {
  const id = systemIds(clockAt(0x0123456789ab)).uuid7();
  expect(id.slice(0, 13)).toBe('01234567-89ab');
});

test('the system assistant of a graph has the same id on every server', () => {
  expect(systemAssistantId('agent')).toBe('fe096781-5601-53d2-b2f6-0d3403f7e9ca');
  expect(systemAssistantId('echo')).toBe('046b5dc7-2108-582c-9c6c-31d556d138f0');
});

test('the creation time is read from version 6 ids and is undefined for others', () => {
  const before = Date.now();
  const time = uuid6Time(uuid6(0)) ?? 0;
  expect(time).toBeGreaterThanOrEqual(before);
  expect(time).toBeLessThan(Date.now() + 1);
  expect(uuid6Time(systemIds(clockAt(before)).uuid7())).toBeUndefined();
  expect(uuid6Time('step-1')).toBeUndefined();
  expect(uuid6Time(firstUuid6(before))).toBe(before);
  expect(firstUuid6(before) <= uuid6(0)).toBe(true);
  expect(firstUuid6(before + 60_000) > uuid6(0)).toBe(true);
});

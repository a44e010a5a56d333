import { expect, test } from 'vitest';
import { AUTO_CEILING, admissible, type LoadNow } from '../../src/workers/load-limits.ts';

const GB = 1024 ** 3;

const IDLE: LoadNow = {
  recent: 0.05,
  average: 0.1,
  late_ms: 1,
  memory: [{ used_bytes: 0.3 * GB, limit_bytes: 8 * GB }],
  is_database_busy: false,
};

const memory = (used: number, limit: number) => ({ used_bytes: used * GB, limit_bytes: limit * GB });

test.each<[string, number, number, Partial<LoadNow>, number]>([
  ['an idle process admits the whole batch', 10, 20, {}, 20],
  ['so it does with hundreds that wait', 400, 40, {}, 40],
  ['an event loop that computed since the last batch admits none', 10, 20, { recent: 0.95 }, 0],
  ['nor one that computes most of the time', 200, 20, { average: 0.95 }, 0],
  ['a loop with some time left admits', 200, 20, { recent: 0.85, average: 0.85 }, 20],
  ['a machine that leaves the process no time admits none', 10, 20, { late_ms: 150 }, 0],
  ['a database whose connections are all in use admits none', 10, 20, { is_database_busy: true }, 0],
  ['the ceiling is not passed', 995, 40, {}, 5],
  ['at the ceiling there is no room', AUTO_CEILING, 40, {}, 0],
  ['above the ceiling neither', 1200, 40, {}, 0],
  ['memory beyond three quarters of the limit admits none', 50, 20, { memory: [memory(3.1, 4)] }, 0],
  ['memory above the limit admits none', 10, 20, { memory: [memory(5, 4)] }, 0],
  ['what is left of memory is divided by what runs take', 100, 40, { memory: [memory(2.5, 4)] }, 20],
  ['the scarcest memory decides', 100, 40, { memory: [memory(1, 8), memory(2.5, 4)] }, 20],
  ['unknown memory is no limit', 10, 20, { memory: [memory(0, 0)] }, 20],
])('%s', (_, running, wanted, load, admitted) => {
  expect(admissible(running, wanted, { ...IDLE, ...load })).toBe(admitted);
});

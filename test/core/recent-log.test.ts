import { expect, test } from 'vitest';
import { logger } from '../../src/core/json-logger.ts';
import { MAX_LENGTH, MAX_LINES, RecentLog } from '../../src/core/recent-log.ts';

const START = Date.UTC(2026, 0, 1);
const logAt = (ms: number) => new RecentLog({ now: () => ms });
const lengthOf = (log: RecentLog) => log.after(0).reduce((sum, { json }) => sum + json.length, 0);

test('the recent log keeps the newest lines, numbered consecutively', () => {
  const log = logAt(START);
  for (let n = 0; n < MAX_LINES + 7; n++) log.add(`{"message":"${n}"}\n`);
  const lines = log.after(0);
  expect(lines).toHaveLength(MAX_LINES);
  expect(lines.at(-1)?.json).toBe(`{"message":"${MAX_LINES + 6}"}`);
  expect(lines[0]?.seq).toBe(log.start + 1);
  expect((lines.at(-1)?.seq ?? 0) - log.start).toBe(MAX_LINES);
  expect(log.after((lines.at(-1)?.seq ?? 0) - 2).map(({ json }) => json)).toEqual(
    lines.slice(-2).map(({ json }) => json),
  );
  expect(log.after(lines.at(-1)?.seq ?? 0)).toEqual([]);
});

test('the recent log keeps fewer long lines, and only the message of one that is too long', () => {
  const log = logAt(START);
  const own = logger('info', { write: (line) => log.add(line) });
  for (let n = 0; n < 200; n++) own.info(`line ${n}`, { text: 'x'.repeat(10_000) });
  expect(log.after(0).length).toBeLessThan(60);
  expect(lengthOf(log)).toBeLessThanOrEqual(MAX_LENGTH);

  own.warn('large', { text: 'x'.repeat(1_000_000) });
  own.error('y'.repeat(1_000_000));
  const [large, long] = log
    .after(0)
    .slice(-2)
    .map(({ json }) => JSON.parse(json));
  expect(large).toEqual({ time: expect.any(String), level: 'warn', is_cut: true, message: 'large' });
  expect(long.message).toMatch(/^y{8000}.*1,000,000 characters in all\)$/);
});

test('line numbers of the recent log are unique across processes', () => {
  const [before, after] = [logAt(START), logAt(START + 1)];
  before.add('{"message":"a"}\n');
  const [line] = before.after(0);
  expect([before.has(line?.seq ?? 0), after.has(line?.seq ?? 0)]).toEqual([true, false]);
  expect(String(line?.seq).length).toBeLessThanOrEqual(15);
});

import { afterEach, expect, test, vi } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { endRequest } from '../../src/node.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

test('a signal that npm repeats at once is one request, and a later one ends the process', async () => {
  let now = 1_000;
  vi.spyOn(systemClock, 'monotonic').mockImplementation(() => now);
  const exit = vi.spyOn(process, 'exit').mockImplementation(() => undefined as never);
  using end = endRequest();
  process.emit('SIGINT', 'SIGINT');
  await end.requested;
  now += 50;
  process.emit('SIGINT', 'SIGINT');
  expect(exit).not.toHaveBeenCalled();
  now += 1_000;
  process.emit('SIGINT', 'SIGINT');
  expect(exit).toHaveBeenCalledWith(1);
});

test('another signal ends a stopping process at once', () => {
  const exit = vi.spyOn(process, 'exit').mockImplementation(() => undefined as never);
  using _end = endRequest();
  process.emit('SIGTERM', 'SIGTERM');
  process.emit('SIGINT', 'SIGINT');
  expect(exit).toHaveBeenCalledWith(1);
});

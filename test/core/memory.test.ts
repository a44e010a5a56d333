import { afterEach, expect, test, vi } from 'vitest';
import { returnMemoryWhenIdle } from '../../src/core/memory.ts';

const engine = vi.hoisted(() => ({ cpu_ms: 0, collections: 0 }));

vi.mock('node:v8', () => ({
  getHeapStatistics: () => ({ used_heap_size: (engine.collections === 0 ? 60 : 30) * 1024 ** 2 }),
  setFlagsFromString: () => {},
}));
vi.mock('node:vm', () => ({
  runInNewContext: () => () => {
    engine.collections += 1;
    engine.cpu_ms += 500;
  },
}));

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

test('the second collection of an idle process follows the first, even after much computation', () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  vi.spyOn(process, 'cpuUsage').mockImplementation(() => ({ user: engine.cpu_ms * 1000, system: 0 }));
  vi.spyOn(process.memoryUsage, 'rss').mockReturnValue(150 * 1024 ** 2);
  using _memory = returnMemoryWhenIdle(30_000);

  vi.advanceTimersByTime(31_000);
  expect(engine.collections).toBe(1);

  vi.advanceTimersByTime(11_000);
  expect(engine.collections).toBe(2);
});

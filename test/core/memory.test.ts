import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const MEMORY = resolve(import.meta.dirname, '../../src/core/memory.ts');

/** The flags of V8 are those of a whole process, so each program has its own. */
async function run<T>(program: string, flags: readonly string[] = []): Promise<T> {
  const source = `
    import { getHeapSpaceStatistics } from 'node:v8';
    import { manageMemory } from ${JSON.stringify(MEMORY)};
    const youngMegabytes = () =>
      getHeapSpaceStatistics().find((space) => space.space_name === 'new_space').space_size / 1024 ** 2;
    /** Long-lived enough that V8 lets the young generation grow; ends each turn so that observers are called. */
    async function allocate() {
      const recent = [];
      for (let i = 0; i < 3_000_000; i++) {
        recent[i % 20_000] = { i, next: [i] };
        if (i % 10_000 === 0) await new Promise(setImmediate);
      }
    }
    ${program}`;
  const args = [...flags, '--input-type=module', '--eval', source];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout) as T;
}

test('the young generation of a busy process stays below half of what V8 lets it take', async () => {
  const busy_mb = await run<number>(`
    using memory = manageMemory();
    await allocate();
    console.log(JSON.stringify(youngMegabytes()));`);

  expect(busy_mb).toBeGreaterThan(2);
  expect(busy_mb).toBeLessThanOrEqual(32);
});

test('an idle process returns its memory', async () => {
  const { busy_bytes, idle_bytes, young_mb } = await run<Record<string, number>>(`
    using memory = manageMemory();
    let kept = Array.from({ length: 400_000 }, (_, i) => ({ i, text: [i] }));
    await allocate();
    const busy_bytes = process.memoryUsage().heapTotal;
    kept = undefined;
    const isLess = () => process.memoryUsage().heapTotal < busy_bytes / 2;
    while (!isLess()) await new Promise((resolve) => setTimeout(resolve, 50));
    const idle_bytes = process.memoryUsage().heapTotal;
    console.log(JSON.stringify({ busy_bytes, idle_bytes, young_mb: youngMegabytes() }));`);

  expect(idle_bytes).toBeLessThan((busy_bytes as number) / 2);
  expect(young_mb).toBeLessThanOrEqual(4);
});

test('a size of the young generation that the user chose remains', async () => {
  const busy_mb = await run<number>(
    `
    using memory = manageMemory();
    await allocate();
    console.log(JSON.stringify(youngMegabytes()));`,
    ['--min-semi-space-size=32', '--max-semi-space-size=32'],
  );

  expect(busy_mb).toBe(64);
});

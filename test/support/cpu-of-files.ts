import { appendFileSync, readFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { afterAll, expect } from 'vitest';

/**
 * In every test file, if `TEST_CPU` names a file: appends to it the seconds of CPU that the file took, with what it loaded
 * (`own`), and those of the processes that it started and that have ended (`children`). On Linux.
 */
const TARGET = process.env['TEST_CPU'];
const ROOT = resolve(import.meta.dirname, '../..');
const TICKS_PER_SECOND = 100;

interface Cpu {
  readonly own: number;
  readonly children: number;
}

/** Of this process, also for the next file in it. */
const counted = globalThis as { cpuOfFiles?: Cpu };

if (TARGET !== undefined) afterAll(() => append(TARGET));

function append(target: string): void {
  const { own, children } = counted.cpuOfFiles ?? { own: 0, children: 0 };
  const now = cpu();
  counted.cpuOfFiles = now;
  const file = relative(ROOT, expect.getState().testPath ?? '');
  const line = { file, own: now.own - own, children: now.children - children };
  appendFileSync(target, `${JSON.stringify(line)}\n`);
}

function cpu(): Cpu {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  // After the name, which may have spaces: state is the third field, utime the 14th.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const seconds = (first: number) =>
    (Number(fields[first - 3]) + Number(fields[first - 2])) / TICKS_PER_SECOND;
  return { own: seconds(14), children: seconds(16) };
}

import { TestRunner } from 'vitest';
import { isInstalled } from './installed.ts';

/** Skips the current test, which is about to call this program, if the machine does not have it. */
export function needs(program: string): void {
  if (isInstalled(program)) return;
  const test = TestRunner.getCurrentTest();
  if (test === undefined) throw new Error(`${program} is not installed`);
  test.context.skip(`${program} is not installed`);
}

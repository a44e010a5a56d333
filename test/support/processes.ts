import { appendFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { expect } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');

/** How a test wants its server. */
interface Wishes {
  /** Why the test needs a single process. */
  readonly one_process?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly storage?: 'sqlite' | undefined;
}

/**
 * Whether a server of a test is several processes (`cluster.ts`): with `TEST_PROCESSES=1`, unless the test says why it
 * needs a single one, or brings its own database.
 */
export function hasProcesses({ one_process, env = {}, storage }: Wishes): boolean {
  if (process.env['TEST_PROCESSES'] !== '1') return false;
  const why = one_process ?? ('DATABASE_URI' in env || storage ? 'a database of its own' : undefined);
  note(why);
  return why === undefined;
}

/** For `test.skipIf`, where one test of a file needs a single process and the others do not. */
export function isOneProcessMissing(why: string): boolean {
  if (process.env['TEST_PROCESSES'] !== '1') return false;
  note(why);
  return true;
}

/** A line about a server that a test started. */
export interface StartedServer {
  readonly test: string;
  /** Why it is a single process; absent if it is not. */
  readonly why?: string;
}

/** For `processes-setup.ts`, which sums up. */
function note(why: string | undefined): void {
  const file = process.env['TEST_PROCESSES_NOTES'];
  if (file === undefined) return;
  const test = relative(ROOT, expect.getState().testPath ?? '');
  appendFileSync(file, `${JSON.stringify({ test, why })}\n`);
}

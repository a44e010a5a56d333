import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Before all tests: one folder for the empty database that they copy (`migrated-sqlite.ts`). */
export default async function setup(): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'agent-server-databases-'));
  process.env['TEST_DATABASES'] = folder;
  return () => rm(folder, { recursive: true, force: true });
}

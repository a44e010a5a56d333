import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Before all tests: one folder for the schemas that their servers read from TypeScript types, for that takes seconds. */
export default async function setup(): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'agent-server-schemas-'));
  process.env['TEST_SCHEMAS'] = folder;
  return () => rm(folder, { recursive: true, force: true });
}

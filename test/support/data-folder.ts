import { mkdtemp, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** An empty folder for what a server keeps. Only schemas of types are there already, if another test asked for them. */
export async function makeDataFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'agent-server-data-'));
  const schemas = process.env['TEST_SCHEMAS'];
  if (schemas !== undefined) await symlink(schemas, join(folder, 'schemas'));
  return folder;
}

import { cp, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');
const COPIED = ['src', 'bin', 'package.json'];

/** The server in a folder of its own, to be changed there. */
export interface CopiedSources extends AsyncDisposable {
  readonly folder: string;
  readonly program: string;
}

export async function copySources(): Promise<CopiedSources> {
  const folder = await mkdtemp(join(tmpdir(), 'agent-server-sources-'));
  const own = new Set([...COPIED, 'test', '.git']);
  for (const name of await readdir(ROOT)) {
    if (!own.has(name)) await symlink(join(ROOT, name), join(folder, name));
  }
  for (const name of COPIED) await cp(join(ROOT, name), join(folder, name), { recursive: true });
  return {
    folder,
    program: join(folder, 'bin/agent-server.mjs'),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

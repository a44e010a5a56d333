import { cp, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');
const COPIED = ['src', 'bin', 'package.json'];
/** What Vitest needs besides. */
const TESTS = ['test', 'vitest.config.ts'];

/** The server in a folder of its own, to be changed there. */
export interface CopiedSources extends AsyncDisposable {
  readonly folder: string;
  readonly program: string;
}

export async function copySources({ tests = false } = {}): Promise<CopiedSources> {
  const folder = await mkdtemp(join(tmpdir(), 'agent-server-sources-'));
  const copied = tests ? [...COPIED, ...TESTS] : COPIED;
  const own = new Set([...copied, 'test', '.git']);
  for (const name of await readdir(ROOT)) {
    if (!own.has(name)) await symlink(join(ROOT, name), join(folder, name));
  }
  for (const name of copied) await cp(join(ROOT, name), join(folder, name), { recursive: true });
  return {
    folder,
    program: join(folder, 'bin/agent-server.mjs'),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

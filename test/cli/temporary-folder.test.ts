import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdir, mkdtempDisposable, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../src/cli/dev/temporary-folder.ts';

const MODULE = new URL('../../src/cli/dev/temporary-folder.ts', import.meta.url).href;
const PROGRAM = `
  const { temporaryFolder } = await import(${JSON.stringify(MODULE)});
  console.log((await temporaryFolder(process.argv[1])).path);
  setInterval(() => {}, 60_000);`;

/** A process with such a folder, and the folder's name. */
async function owner(parent: string): Promise<{ process: ChildProcess; name: string }> {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', PROGRAM, parent], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [path] = await once(child.stdout, 'data');
  return { process: child, name: basename(String(path).trim()) };
}

test('temporary folders of killed processes are removed, and no others', async () => {
  await using parent = await mkdtempDisposable(join(tmpdir(), 'agent-server-folders-'));
  const killed = await owner(parent.path);
  const living = await owner(parent.path);
  using _end = { [Symbol.dispose]: () => living.process.kill('SIGKILL') };
  await mkdir(join(parent.path, 'agent-server-dev-unknown'));
  const exited = once(killed.process, 'exit');
  killed.process.kill('SIGKILL');
  await exited;

  const folder = await temporaryFolder(parent.path);

  const expected = ['agent-server-dev-unknown', living.name, basename(folder.path)];
  expect((await readdir(parent.path)).sort()).toEqual(expected.sort());
  await folder[Symbol.asyncDispose]();
  expect(await readdir(parent.path)).not.toContain(basename(folder.path));
});

test.runIf(process.geteuid?.() === 0)('temporary folders of other users are kept, even by root', async () => {
  await using parent = await mkdtempDisposable(join(tmpdir(), 'agent-server-folders-'));
  const killed = await owner(parent.path);
  const exited = once(killed.process, 'exit');
  killed.process.kill('SIGKILL');
  await exited;
  await chown(join(parent.path, killed.name), 12_345, 12_345);

  await using _folder = await temporaryFolder(parent.path);
  expect(await readdir(parent.path)).toContain(killed.name);
});

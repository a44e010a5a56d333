import { existsSync, symlinkSync, writeFileSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, rename, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { removeTree } from '../../src/core/remove-tree.ts';

/** Paths of Linux have at most 4,096 bytes. */
const LEVELS = 50;
const NAME = 'd'.repeat(200);

/** A folder within a folder, and so on, made from the innermost outwards. */
async function nested(folder: string): Promise<string> {
  let inner = join(folder, 'innermost');
  await mkdir(inner);
  await writeFile(join(inner, 'file'), 'content');
  for (let level = 0; level < LEVELS; level++) {
    const outer = join(folder, `level-${level}`);
    await mkdir(outer);
    await rename(inner, join(outer, NAME));
    inner = outer;
  }
  return inner;
}

test('a folder that is nested more deeply than the longest path is deleted', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'agent-server-tree-'));
  const outside = join(folder, 'outside');
  await mkdir(outside);
  await writeFile(join(outside, 'kept'), '');
  const tree = join(folder, 'tree');
  await rename(await nested(folder), tree);
  await mkdir(join(tree, 'read-only'));
  await writeFile(join(tree, 'read-only', 'file'), '');
  await chmod(join(tree, 'read-only'), 0o500);
  symlinkSync(outside, join(tree, 'link'));
  writeFileSync(Buffer.concat([Buffer.from(`${tree}/`), Buffer.of(0xff, 0x0a)]), '');

  await removeTree(tree);
  expect(await readdir(folder)).toEqual(['outside']);
  expect(await readdir(outside)).toEqual(['kept']);
  await removeTree(folder);
  expect(existsSync(folder)).toBe(false);
});

test('deleting a missing folder succeeds', async () => {
  await expect(removeTree(join(tmpdir(), 'agent-server-nothing'))).resolves.toBeUndefined();
});

import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { InsufficientStorage } from '../../../src/core/errors.ts';
import { backupDatabase } from '../../../src/extensions/operations/backup/backup.ts';
import { restoreDatabase } from '../../../src/extensions/operations/backup/restore.ts';
import { openTarget } from '../../../src/extensions/operations/copy/databases.ts';
import { failure } from '../../support/naming.ts';

const folder = mkdtempSync(join(tmpdir(), 'backup-files-'));
const small = join(folder, 'small');
mkdirSync(small);
const isMounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'none', small]).status === 0;
afterAll(() => {
  if (isMounted) spawnSync('umount', [small]);
  rmSync(folder, { recursive: true, force: true });
});

const url = `sqlite:${join(folder, 'server.db')}`;
const whole = join(folder, 'whole.backup');
beforeAll(async () => {
  await (await openTarget(url))[Symbol.asyncDispose]();
  await backupDatabase({ url, file: whole });
});

describe('a backup that is incomplete', () => {
  const PAGE = 4096;

  test.each([
    ['nothing', () => 0],
    ['half of the first page', () => PAGE / 2],
    ['the first page', () => PAGE],
    ['half', (size: number) => size >> 1],
    ['all but the last page', (size: number) => size - PAGE],
    ['all but the last byte', (size: number) => size - 1],
  ])('is refused: %s', async (_what, lengthOf) => {
    const bytes = readFileSync(whole);
    const file = join(folder, 'cut.backup');
    writeFileSync(file, bytes.subarray(0, lengthOf(bytes.length)));
    const target = join(folder, 'refused.db');
    await expect(restoreDatabase({ file, url: `sqlite:${target}` })).rejects.toThrow(
      /cut\.backup is (damaged, incomplete, or )?not a backup/,
    );
    expect(existsSync(target)).toBe(false);
  });

  test('is complete when all of its parts are there', async () => {
    const target = `sqlite:${join(folder, 'restored.db')}`;
    await expect(restoreDatabase({ file: whole, url: target })).resolves.toBeUndefined();
  });
});

// A disk of one's own needs root.
test.skipIf(!isMounted)(
  'a backup that does not fit on the disk leaves no file and reports the reason',
  async () => {
    const file = join(small, 'large.backup');
    const written = backupDatabase({ url, file });
    await expect(written).rejects.toThrow(failure(InsufficientStorage, file));
    expect(readdirSync(small)).toEqual([]);
  },
);

test('a backup that cannot be written reports the file and the reason', async () => {
  const file = join(whole, 'below.backup');
  await expect(backupDatabase({ url, file })).rejects.toThrow(failure(Error, file, 'written: E'));
});

import { link, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { collectGarbage, revisionsToRemove } from '../../src/deployments/keep.ts';
import { MB, TestDeployment } from '../support/builds.ts';

/** Revisions that were built one second apart, the oldest first. */
function revisions(count: number, bytes = MB) {
  return Array.from({ length: count }, (_, n) => ({
    id: `r${n}`,
    folder: `/r${n}`,
    built_at: new Date(Date.UTC(2030, 0, 1, 0, 0, n)).toISOString() as string | undefined,
    in_use: false,
    bytes,
  }));
}

const RULES = { revisions: 5, max_bytes: 100 * MB };

describe('of the revisions', () => {
  test('the five that were built last are kept', () => {
    expect(revisionsToRemove(revisions(8), RULES)).toEqual(['r0', 'r1', 'r2']);
  });

  test('one in use is kept beside them, however old and large', () => {
    const all = revisions(8).map((revision) =>
      revision.id === 'r0' ? { ...revision, in_use: true } : revision,
    );
    expect(revisionsToRemove(all, RULES)).toEqual(['r1', 'r2']);
    const huge = all.map((revision) => (revision.in_use ? { ...revision, bytes: 500 * MB } : revision));
    expect(revisionsToRemove(huge, RULES)).not.toContain('r0');
  });

  test('those that were not built are removed, unless they are being built', () => {
    const [failed, building, built] = revisions(3);
    const all = [
      { ...failed!, built_at: undefined },
      { ...building!, built_at: undefined, in_use: true },
      built!,
    ];
    expect(revisionsToRemove(all, RULES)).toEqual(['r0']);
  });

  test('only as many are kept as fit on the disk, the newest of them', () => {
    expect(revisionsToRemove(revisions(5, 30 * MB), RULES)).toEqual(['r0', 'r1']);
  });
});

test('after a hundred builds the disk holds what the rules allow, and links lead to no further removal', async () => {
  await using deployment = await TestDeployment.create();
  const secret = join(deployment.folder, 'kept.txt');
  await writeFile(secret, 'kept');
  const all = [];
  for (let n = 0; n < 100; n++) {
    const folder = await deployment.write(`revisions/${n}`, { 'data.txt': 'x'.repeat(100_000) });
    await symlink(secret, join(folder, 'link'));
    all.push({
      id: `${n}`,
      folder,
      built_at: new Date(Date.UTC(2030, 0, 1, 0, 0, n)).toISOString(),
      in_use: n === 3,
    });
    await collectGarbage(all, { revisions: 5, max_bytes: MB });
  }
  const left = (await readdir(join(deployment.folder, 'revisions'))).map(Number).sort((a, b) => a - b);
  expect(left).toEqual([3, 95, 96, 97, 98, 99]);
  expect(await readdir(deployment.folder)).toContain('kept.txt');
});

test('files that revisions share count once', async () => {
  await using deployment = await TestDeployment.create();
  const all = [];
  for (let n = 0; n < 5; n++) {
    const folder = await deployment.write(`revisions/${n}`, { 'own.txt': 'x' });
    const shared = join(folder, 'shared.bin');
    if (n === 0) await writeFile(shared, Buffer.alloc(MB, 1));
    else await link(join(deployment.folder, 'revisions/0/shared.bin'), shared);
    all.push({
      id: `${n}`,
      folder,
      built_at: new Date(Date.UTC(2030, 0, 1, 0, 0, n)).toISOString(),
      in_use: false,
    });
  }
  expect(await collectGarbage(all, { revisions: 5, max_bytes: 2 * MB })).toEqual([]);
});

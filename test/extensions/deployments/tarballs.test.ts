import { execFileSync } from 'node:child_process';
import { lstat, mkdtemp, readdir, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { BuildFailure } from '../../../src/extensions/deployments/build/build-failure.ts';
import { extractTarball } from '../../../src/extensions/deployments/build/tarball/extract.ts';
import { naming } from '../../support/naming.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tarballs-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

interface Entry {
  readonly path: string;
  readonly type?: string;
  readonly data?: string;
  readonly target?: string;
  /** Instead of the length of the data. */
  readonly size?: number;
}

/** An archive with exactly these entries, also such that no program would write. */
function archive(entries: readonly Entry[]): Buffer {
  const blocks = entries.flatMap(({ path, type = '0', data = '', target = '', size = data.length }) => {
    const header = Buffer.alloc(512);
    header.write(path, 0, 100);
    header.write('0000644\0', 100);
    header.write(`${size.toString(8).padStart(11, '0')}\0`, 124);
    header.write('        ', 148);
    header.write(type, 156);
    header.write(target, 157, 100);
    header.write('ustar\x0000', 257);
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
    return [header, Buffer.from(data), Buffer.alloc((512 - (data.length % 512)) % 512)];
  });
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

/** An extension of GNU's tar: the path of the next entry, or its target. */
function longName(name: string, type: 'L' | 'K' = 'L'): Entry[] {
  return [{ path: '././@LongLink', type, data: name }];
}

async function extract(tar: Buffer, max_bytes = 1024 * 1024, max_entries?: number): Promise<string> {
  const file = join(folder, 'source.tar.gz');
  await writeFile(file, gzipSync(tar));
  const root = join(folder, 'root');
  await rm(root, { recursive: true, force: true });
  await extractTarball(file, root, { max_bytes, max_entries }, new AbortController().signal);
  return root;
}

async function refusal(tar: Buffer, max_bytes?: number, max_entries?: number): Promise<BuildFailure> {
  const error = await extract(tar, max_bytes, max_entries).catch((thrown: unknown) => thrown);
  if (error instanceof BuildFailure) return error;
  throw error instanceof Error ? error : new Error('it was extracted');
}

/** Everything outside of the root that an archive could have changed. */
const outside = async () => (await readdir(folder)).sort();

describe.each([
  ['an absolute path', [{ path: '/tmp/escaped', data: 'x' }], 'tarball_path'],
  ['a path upwards', [{ path: '../escaped', data: 'x' }], 'tarball_path'],
  ['a path down and upwards', [{ path: 'a/../../escaped', data: 'x' }], 'tarball_path'],
  ['a path that names the root', [{ path: '../../deployments/', data: 'x' }], 'tarball_path'],
  ['a link upwards', [{ path: 'link', type: '2', target: '../../etc/passwd' }], 'tarball_link'],
  ['an absolute link', [{ path: 'link', type: '2', target: '/etc/passwd' }], 'tarball_link'],
  [
    'a file through a link',
    [
      { path: 'd', type: '2', target: '.' },
      { path: 'd/file', data: 'x' },
    ],
    'tarball_path',
  ],
  [
    'links that lead out only together',
    [
      { path: 'sub/deep/', type: '5' },
      { path: 'a', type: '2', target: 'sub/deep' },
      { path: 'b', type: '2', target: 'a/../../..' },
    ],
    'tarball_link',
  ],
  ['a hard link outside', [{ path: 'link', type: '1', target: '../../etc/passwd' }], 'tarball_link'],
  ['a hard link to an absolute path', [{ path: 'link', type: '1', target: '/etc/passwd' }], 'tarball_link'],
  [
    'a hard link to a link',
    [
      { path: 'a', type: '2', target: 'b' },
      { path: 'c', type: '1', target: 'a' },
    ],
    'tarball_link',
  ],
  ['a device', [{ path: 'null', type: '3' }], 'tarball_type'],
  ['a block device', [{ path: 'disk', type: '4' }], 'tarball_type'],
  ['a pipe', [{ path: 'pipe', type: '6' }], 'tarball_type'],
  [
    'a file that is also a folder',
    [
      { path: 'a', data: 'x' },
      { path: 'a/b', data: 'x' },
    ],
    'tarball_path',
  ],
  [
    'a folder that is also a file',
    [
      { path: 'a/b', data: 'x' },
      { path: 'a', data: 'x' },
    ],
    'tarball_path',
  ],
  [
    'a folder that is also a link',
    [
      { path: 'a/', type: '5' },
      { path: 'b', data: 'x' },
      { path: 'a', type: '2', target: 'b' },
    ],
    'tarball_path',
  ],
  ['a name that is too long', [...longName('n'.repeat(300)), { path: 'n' }], 'tarball_path'],
  [
    'a link to a name that is too long',
    [...longName('n'.repeat(5000), 'K'), { path: 'link', type: '2' }],
    'tarball_path',
  ],
  [
    'a path with a zero byte in an extension',
    [{ path: 'x', type: 'x', data: '15 path=a\u0000b.c\n' }, { path: 'a' }],
    'tarball_path',
  ],
  ['more data than there is', [{ path: 'a', data: 'x', size: 4096 }], 'tarball_unreadable'],
  ['an extension without end', [{ path: 'x', type: 'x', data: '99 path=a\n' }], 'tarball_unreadable'],
  ['a huge extension', [{ path: 'x', type: 'L', size: 8 ** 8 }], 'tarball_unreadable'],
  ['nothing', [], 'tarball_unreadable'],
] as [string, Entry[], string][])('an archive with %s', (_, entries, code) => {
  test('is refused, and changes nothing outside', async () => {
    const failure = await refusal(archive(entries));
    expect(failure.code).toBe(code);
    expect(failure.message).not.toContain(folder);
    expect(await outside()).toEqual(['root', 'source.tar.gz']);
  });
});

test('an archive that extracts to more than the limit is refused before it is written', async () => {
  const bomb = archive([{ path: 'zeros', data: '0'.repeat(5 * 1024 * 1024) }]);
  expect(gzipSync(bomb).length).toBeLessThan(10_000);
  expect((await refusal(bomb)).code).toBe('disk_limit');
  const many = archive(Array.from({ length: 50 }, (_, n) => ({ path: `file-${n}` })));
  expect(await refusal(many, 1024, 49)).toMatchObject({
    message: naming('49 files'),
  });
});

test('an archive with a damaged header is refused', async () => {
  const tar = archive([{ path: 'a', data: 'x' }]);
  tar[0] = 'b'.charCodeAt(0);
  expect((await refusal(tar)).message).toEqual(naming('header', 'damaged'));
});

test('extraction restores files, modes, folders, and links within the archive; of two files with one name the last wins', async () => {
  const root = await extract(
    archive([
      { path: './a/', type: '5' },
      { path: './a/file', data: 'first' },
      { path: './a/file', data: 'second' },
      { path: 'hard', type: '1', target: 'a/file' },
      { path: 'a/up', type: '2', target: '../hard' },
      { path: 'dangling', type: '2', target: 'a/later' },
    ]),
  );
  expect(await readFile(join(root, 'a/up'), 'utf8')).toBe('second');
  expect((await stat(join(root, 'hard'))).nlink).toBe(2);
  expect(await readlink(join(root, 'dangling'))).toBe('a/later');
  expect((await lstat(join(root, 'a'))).mode & 0o777).toBe(0o700);
});

test.each(['gnu', 'pax', 'ustar', 'v7'])(
  'archives that tar writes in the format %s are read',
  async (format) => {
    const source = join(folder, 'project');
    const long =
      format === 'gnu' || format === 'pax' ? `${'long-'.repeat(30)}/${'name-'.repeat(30)}` : 'folder/name';
    execFileSync('mkdir', ['-p', join(source, long, '..')]);
    await writeFile(join(source, long), 'inside ü');
    execFileSync('sh', ['-c', 'echo run > run.sh && chmod +x run.sh && ln -s run.sh link'], { cwd: source });
    const file = join(folder, 'made.tar.gz');
    execFileSync('tar', ['-czf', file, `--format=${format}`, '-C', source, '.']);
    const root = join(folder, 'extracted');
    await extractTarball(file, root, { max_bytes: 1024 * 1024 }, new AbortController().signal);
    expect(await readFile(join(root, long), 'utf8')).toBe('inside ü');
    expect((await stat(join(root, 'link'))).mode & 0o777).toBe(0o700);
    expect((await stat(join(root, long))).mode & 0o777).toBe(0o600);
  },
);

describe('extended headers', () => {
  const record = (text: string): Entry => ({ path: 'pax', type: 'x', data: text });
  const file: Entry = { path: 'a.txt', data: 'a' };

  test('of one entry are limited to four of 64 kB each', async () => {
    const comment = (length: number) =>
      `${length} comment=${'x'.repeat(length - `${length} comment=`.length - 1)}\n`;
    const four = Array.from({ length: 4 }, () => record(comment(64 * 1024)));
    const root = await extract(archive([...four, file, ...four, { ...file, path: 'b.txt' }]));
    expect((await readdir(root)).sort()).toEqual(['a.txt', 'b.txt']);
    expect(await refusal(archive([...four, record(comment(20)), file]))).toMatchObject({
      code: 'tarball_unreadable',
    });
    expect(await refusal(archive([record(comment(64 * 1024 + 1)), file]))).toMatchObject({
      code: 'tarball_unreadable',
    });
  });

  test('of an archive are limited to 32 MB', async () => {
    const most = `65536 comment=${'x'.repeat(65_536 - 15)}\n`;
    const entries = Array.from({ length: 513 }, () => [record(most), file]).flat();
    expect(await refusal(archive(entries), 2000)).toMatchObject({ code: 'tarball_unreadable' });
  });
});

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readlinkSync } from 'node:fs';
import { open, readdir, symlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { InsufficientStorage } from '../../../src/core/errors.ts';
import { deploymentFiles } from '../../../src/extensions/deployments/storage/files.ts';
import { project } from '../../support/project.ts';

const MAX_BYTES = 1000;

test('an upload for which the disk has no room is refused as such, and leaves nothing', async () => {
  await using folder = await project({});
  const files = deploymentFiles(folder.root);
  const [id, path] = pathOfUpload();
  async function* content() {
    yield Buffer.from('some');
    throw Object.assign(new Error('no space left on device, write'), { code: 'ENOSPC' });
  }
  const saved = files.saveUpload(path, Readable.from(content()), MAX_BYTES);
  await expect(saved).rejects.toBeInstanceOf(InsufficientStorage);
  expect(await readdir(folder.path(`uploads/${id}`))).toEqual([]);
});

test('an unfinished upload is not visible yet', async () => {
  await using folder = await project({});
  const files = deploymentFiles(folder.root);
  const [id, path] = pathOfUpload();
  const content = new PassThrough({ highWaterMark: 1 });
  const saved = files.saveUpload(path, content, MAX_BYTES);
  content.write('some');
  await once(content, 'drain');
  expect(await files.hasUpload(id, path)).toBe(false);
  content.end('thing');
  expect(await saved).toBe(true);
  expect(await files.hasUpload(id, path)).toBe(true);
});

test('a file that disappears while old uploads are deleted does not stop the deletion', async () => {
  await using folder = await project({});
  const files = deploymentFiles(folder.root);
  const [id, path] = pathOfUpload();
  await files.saveUpload(path, Readable.from(['some']), MAX_BYTES);
  // Is listed, but not there: as the part of an upload that gets its name meanwhile.
  await symlink(folder.path('nowhere'), folder.path(`uploads/${id}/0.part`));
  await files.keepUploads(id, [], Date.now() + 2 * 60 * 60_000);
  expect(await readdir(folder.path(`uploads/${id}`))).toEqual(['0.part']);
});

test.skipIf(!existsSync('/proc/self/fd'))(
  'an upload is on disk before it is acknowledged: first its data, then its name',
  async () => {
    await using folder = await project({});
    const files = deploymentFiles(folder.path('deployments'));
    const [id, path] = pathOfUpload();
    await using flushed = await flushes();
    expect(await files.saveUpload(path, Readable.from([Buffer.from('something')]), MAX_BYTES)).toBe(true);
    const [data, ...folders] = flushed.paths;
    // Renamed only afterwards: a power cut in between leaves the empty file that has taken the path.
    expect(data).toMatch(/\.tar\.gz\.[0-9a-f]{12}\.part$/);
    expect(dirname(data as string)).toBe(folder.path(`deployments/uploads/${id}`));
    expect(folders).toEqual(
      [`deployments/uploads/${id}`, 'deployments/uploads', 'deployments', ''].map(folder.path),
    );
  },
);

/** Paths of the files and folders that are flushed until it is disposed, in their order. */
async function flushes() {
  await using file = await open('/dev/null');
  const handles = Object.getPrototypeOf(file) as { sync(this: { readonly fd: number }): Promise<void> };
  const { sync } = handles;
  const paths: string[] = [];
  handles.sync = async function record() {
    paths.push(readlinkSync(`/proc/self/fd/${this.fd}`));
    await sync.call(this);
  };
  return {
    paths,
    [Symbol.asyncDispose]: async () => {
      handles.sync = sync;
    },
  };
}

function pathOfUpload(): [deployment_id: string, object_path: string] {
  const id = randomUUID();
  return [id, `uploads/${id}/${randomUUID()}.tar.gz`];
}

import { createReadStream, createWriteStream } from 'node:fs';
import { link, lstat, mkdir, open, realpath, rm, symlink } from 'node:fs/promises';
import { dirname, isAbsolute, join, normalize, posix, relative, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { BuildFailure, errorCode } from '../build-failure.ts';
import { type TarEntry, tarEntries } from './tar-entries.ts';

export interface ExtractLimits {
  /** Maximum total size of the extracted files. */
  readonly max_bytes: number;
  readonly max_entries?: number | undefined;
}

const MAX_ENTRIES = 200_000;
const MAX_PATH_LENGTH = 4000;

/** Files and folders created so far, and the links to create after all files. */
interface Extraction {
  readonly root: string;
  readonly symlinks: Map<string, string>;
  bytes: number;
}

/**
 * Extracts a gzip-compressed tar archive into a new folder. Accepts only files, folders and links within the folder:
 * any other entry rejects the whole archive. No file is ever written through a link of the archive.
 */
export async function extractTarball(
  file: string,
  root: string,
  limits: ExtractLimits,
  signal: AbortSignal,
): Promise<void> {
  await requireGzip(file);
  await mkdir(root, { mode: 0o700 });
  const extraction: Extraction = { root, symlinks: new Map(), bytes: 0 };
  const extractAll = async (source: AsyncIterable<Buffer>) => {
    let entries = 0;
    for await (const entry of tarEntries(source)) {
      signal.throwIfAborted();
      entries += 1;
      if (entries > (limits.max_entries ?? MAX_ENTRIES))
        throw tooLarge(`${limits.max_entries ?? MAX_ENTRIES} files`);
      await extractEntry(extraction, entry, limits.max_bytes).catch((error: unknown) => {
        throw entryFailure(entry.path, error);
      });
    }
    if (entries === 0) throw new Error('the archive is empty');
    await makeSymlinks(extraction);
  };
  try {
    await pipeline(createReadStream(file), createGunzip(), extractAll, { signal });
  } catch (error) {
    throw extractFailure(error, signal);
  }
}

async function requireGzip(file: string): Promise<void> {
  const handle = await open(file).catch((cause: unknown) => {
    const hint = 'Upload the archive again.';
    throw new BuildFailure(
      'source',
      { code: 'tarball_missing', message: 'The uploaded archive is missing.', hint },
      { cause },
    );
  });
  try {
    const { buffer } = await handle.read(Buffer.alloc(2), 0, 2, 0);
    if (buffer[0] === 0x1f && buffer[1] === 0x8b) return;
  } finally {
    await handle.close();
  }
  throw new BuildFailure('source', {
    code: 'tarball_not_gzip',
    message: 'The archive is not compressed with gzip.',
    hint: 'Create it with tar -czf.',
  });
}

async function extractEntry(extraction: Extraction, entry: TarEntry, max_bytes: number): Promise<void> {
  const path = pathWithin(extraction.root, entry.path);
  if (path === undefined) throw refused('path', entry.path, 'points outside the archive');
  if (entry.type === '5') return await makeFolder(extraction, path);
  if (path === extraction.root) throw refused('path', entry.path, 'is not a file name');
  await makeFolder(extraction, dirname(path));
  await removeFormer(extraction, path);
  if (entry.type === '0' || entry.type === '7') {
    extraction.bytes += entry.size;
    if (extraction.bytes > max_bytes) throw tooLarge(`${max_bytes} bytes`);
    const mode = entry.mode & 0o100 ? 0o700 : 0o600;
    await pipeline(entry.data, createWriteStream(path, { flags: 'wx', mode }));
  } else if (entry.type === '1') {
    const target = pathWithin(extraction.root, entry.target);
    const isFile = target && (await isFileWithin(extraction, target));
    if (!isFile) throw refused('link', entry.path, 'links to no file of the archive');
    await link(target, path);
  } else if (entry.type === '2') {
    extraction.symlinks.set(path, checkedTarget(extraction.root, path, entry));
  } else {
    throw refused('type', entry.path, 'is neither a file, nor a folder, nor a link');
  }
}

/** Returns the absolute path of an entry, or `undefined` if it leaves the root. */
function pathWithin(root: string, path: string): string | undefined {
  if (path === '' || path.length > MAX_PATH_LENGTH || path.includes('\0') || isAbsolute(path))
    return undefined;
  // Reject `..` even if the path returns to the root: the meaning of `a/../b` depends on what `a` is.
  if (path.split('/').includes('..')) return undefined;
  const absolute = join(root, normalize(path));
  return absolute.endsWith(sep) ? absolute.slice(0, -1) : absolute;
}

/** Creates folders one by one. A file or a link in their place is an error of the archive. */
async function makeFolder({ root, symlinks }: Extraction, folder: string): Promise<void> {
  const names = relative(root, folder).split(sep).filter(Boolean);
  let path = root;
  for (const name of names) {
    path = join(path, name);
    if (symlinks.has(path))
      throw refused('path', relative(root, folder), 'has a link among its parent folders');
    await mkdir(path, { mode: 0o700 }).catch((error: unknown) => {
      if (errorCode(error) !== 'EEXIST') throw error;
    });
    if (!(await lstat(path)).isDirectory())
      throw refused('path', relative(root, folder), 'has a file among its parent folders');
  }
}

/** An archive may contain a path twice: the last entry wins, but never replaces a folder. */
async function removeFormer({ root, symlinks }: Extraction, path: string): Promise<void> {
  symlinks.delete(path);
  const isFolder = await lstat(path).then(
    (info) => info.isDirectory(),
    () => false,
  );
  if (isFolder) throw refused('path', relative(root, path), 'is also a folder');
  await rm(path, { force: true });
}

async function isFileWithin({ symlinks }: Extraction, path: string): Promise<boolean> {
  if (symlinks.has(path)) return false;
  return await lstat(path).then(
    (info) => info.isFile(),
    () => false,
  );
}

function checkedTarget(root: string, path: string, { path: name, target }: TarEntry): string {
  const resolved = posix.join(relative(root, dirname(path)), target);
  if (target === '' || target.includes('\0') || isAbsolute(target) || resolved.split('/')[0] === '..') {
    throw refused('link', name, 'points outside the archive');
  }
  return target;
}

/**
 * Creates the links last, so that no entry is written through one. Several links combined may point where none does
 * alone.
 */
async function makeSymlinks({ root, symlinks }: Extraction): Promise<void> {
  for (const [path, target] of symlinks) {
    await symlink(target, path).catch((error: unknown) => {
      throw entryFailure(relative(root, path), error);
    });
  }
  const realRoot = await realpath(root);
  for (const path of symlinks.keys()) {
    // A dangling link points nowhere.
    const real = await realpath(path).catch(() => realRoot);
    if (real !== realRoot && !real.startsWith(realRoot + sep)) {
      throw refused('link', relative(root, path), 'points outside the archive');
    }
  }
}

/** Errors of the file system for a single entry, without its path on this machine, which users must not see. */
function entryFailure(path: string, error: unknown): unknown {
  const code = errorCode(error);
  if (code === 'ENAMETOOLONG') return refused('path', path, 'has a name or a target that is too long');
  if (code === 'EMLINK')
    return refused('link', path, 'exceeds the number of hard links that a file may have');
  if (code === 'EINVAL' || code === 'EILSEQ')
    return refused('path', path, 'has a name that the file system of the server does not accept');
  return error;
}

function refused(what: string, path: string, why: string): BuildFailure {
  return new BuildFailure('source', {
    code: `tarball_${what}`,
    message: `The archive contains ${JSON.stringify(path.slice(0, 200))}, which ${why}.`,
    hint: 'Create the archive in the project folder, with relative paths and without special files.',
  });
}

function tooLarge(what: string): BuildFailure {
  return new BuildFailure('source', {
    code: 'disk_limit',
    message: `The archive contains more than ${what}.`,
    hint: 'Exclude node_modules and data, or have the operator raise the disk limit of builds.',
  });
}

function extractFailure(error: unknown, signal: AbortSignal): unknown {
  if (error instanceof BuildFailure || signal.aborted) return error;
  const code = errorCode(error);
  // Disk errors are not the archive's fault.
  if (code && !code.startsWith('Z_')) return error;
  return new BuildFailure(
    'source',
    {
      code: 'tarball_unreadable',
      message: `The archive cannot be read: ${(error as Error).message}.`,
      hint: 'Create the archive again with tar -czf, and upload it again.',
    },
    { cause: error },
  );
}

import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ContentTooLarge, InsufficientStorage, isDiskFull } from '../../../core/errors.ts';
import { makeFolder } from '../../../core/make-folder.ts';
import { buildFiles, ifMissing } from './build-files.ts';
import { deletedFiles } from './deleted-files.ts';
import { flush, flushFolders } from './flush.ts';
import { unusableFolder } from './folder-lock.ts';
import { logFiles } from './log-files.ts';

export type DeploymentFiles = ReturnType<typeof deploymentFiles>;

/** How long an upload is kept without a revision, ms. */
const UPLOAD_TTL_MS = 60 * 60_000;
/** `uploads/<deployment>/<object>.tar.gz`; anything else is not the path of an upload. */
const OBJECT_PATH = /^uploads\/([0-9a-f-]{36})\/[0-9a-f-]{36}\.tar\.gz$/;

/** Files of deployments below `folder`, readable by this user only. */
export function deploymentFiles(folder: string) {
  const home = (name: string) => join(folder, 'apps', name);
  const upload = (object_path: string) => join(folder, object_path);

  return {
    home,
    /**
     * Returns the database file of a deployment, creating it if missing. Builds may traverse its folder, so the file
     * itself is private.
     */
    async database(name: string): Promise<string> {
      const path = join(home(name), 'data.sqlite');
      makeFolder(home(name), 0o700);
      await (await open(path, 'a', 0o600)).close();
      // SQLite flushes only the file and the entries of its folder.
      await flushFolders(home(name), dirname(resolve(folder)));
      return path;
    },
    /** Path of the database file; `undefined` until something has been stored in it. */
    async existingDatabase(name: string): Promise<string | undefined> {
      const path = join(home(name), 'data.sqlite');
      const size = await stat(path).then((found) => found.size, ifMissing(0));
      return size > 0 ? path : undefined;
    },
    ...buildFiles(home),
    ...deletedFiles(folder, home),
    ...logFiles(home),

    upload,

    /** Whether it is the path of a completed upload for the deployment. */
    async hasUpload(deployment_id: string, object_path: string): Promise<boolean> {
      if (OBJECT_PATH.exec(object_path)?.[1] !== deployment_id) return false;
      return stat(upload(object_path)).then(
        // An upload in progress reserves its path with an empty file.
        (found) => found.isFile() && found.size > 0,
        () => false,
      );
    },

    /**
     * Streams an upload to disk; when this resolves it survives a power failure. Returns false if the path is taken.
     * Throws `ContentTooLarge` above `max_bytes`, and `InsufficientStorage`; a failed upload leaves nothing behind.
     */
    async saveUpload(object_path: string, content: Readable, max_bytes: number): Promise<boolean> {
      const path = upload(object_path);
      makeFolder(dirname(path), 0o700);
      const claimed = await open(path, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'EEXIST') throw error;
      });
      if (!claimed) return false;
      await claimed.close();
      const part = `${path}.${randomBytes(6).toString('hex')}.part`;
      try {
        await pipeline(content, limit(max_bytes), createWriteStream(part, { mode: 0o600 }));
        await flush(part);
        await rename(part, path);
        await flushFolders(dirname(path), dirname(resolve(folder)));
      } catch (error) {
        await rm(part, { force: true });
        await rm(path, { force: true });
        if (!isDiskFull(error)) throw error;
        throw new InsufficientStorage('The disk of the server is full.', { cause: error });
      }
      return true;
    },

    /** Deletes the uploads of a deployment except these, and except those that may be about to be used. */
    async keepUploads(deployment_id: string, object_paths: readonly string[], now_ms: number): Promise<void> {
      const uploads = join(folder, 'uploads', deployment_id);
      for (const file of await readdir(uploads).catch(() => [])) {
        const path = join(uploads, file);
        if (object_paths.some((each) => path === upload(each))) continue;
        // The partial file may have been renamed meanwhile.
        const found = await stat(path).catch(ifMissing(undefined));
        if (found && found.mtimeMs < now_ms - UPLOAD_TTL_MS) await rm(path, { force: true });
      }
    },

    /**
     * Creates an empty folder for temporary files of git, such as keys; deletes what a killed server left in it. Throws
     * `Unavailable` if it cannot be created.
     */
    async emptyScratch(): Promise<string> {
      const scratch = join(folder, 'git');
      try {
        await rm(scratch, { recursive: true, force: true });
        makeFolder(scratch, 0o700);
      } catch (error) {
        throw unusableFolder(folder, error);
      }
      return scratch;
    },
  };
}

function limit(max_bytes: number): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes <= max_bytes) done(null, chunk);
      else done(new ContentTooLarge(`The upload is too large (limit: ${max_bytes} bytes).`));
    },
  });
}

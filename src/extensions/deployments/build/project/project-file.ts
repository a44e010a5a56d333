import { constants } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { errorCode } from '../build-failure.ts';

/** Maximum size of a project file that the server reads, bytes. */
const MAX_BYTES = 64 * 1024 * 1024;
/** Maximum size of one that it parses, bytes: parsing blocks the event loop and takes many times the memory. */
export const MAX_PARSED_BYTES = 1024 * 1024;

/**
 * Reads a file of an untrusted project as bytes; `undefined` if it does not exist. A link that points outside `root`
 * counts as missing: it could name a file that only the server can read.
 */
export async function readProjectFile(root: string, path: string): Promise<Buffer | undefined> {
  const absent = (error: unknown) => {
    if (['ENOENT', 'ENOTDIR', 'ELOOP', 'EISDIR'].includes(errorCode(error) ?? '')) return undefined;
    throw error;
  };
  const real = await realpath(join(root, path)).catch(absent);
  if (real === undefined || !real.startsWith((await realpath(root)) + sep)) return undefined;
  // Opening a named pipe would block.
  const handle = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    absent,
  );
  if (!handle) return undefined;
  try {
    const info = await handle.stat();
    return info.isFile() && info.size <= MAX_BYTES ? await handle.readFile() : undefined;
  } finally {
    await handle.close();
  }
}

/** Parses a JSON file to an object. `error`: `missing`, or what is wrong with it. */
export async function readProjectJson(
  root: string,
  path: string,
): Promise<{ value: Record<string, unknown> } | { error: string } | undefined> {
  const data = await readProjectFile(root, path);
  if (!data) return undefined;
  if (data.length > MAX_PARSED_BYTES) return { error: 'it has more than 1 MB' };
  try {
    const value: unknown = JSON.parse(data.toString('utf8').replace(/^\ufeff/, ''));
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return { value: value as Record<string, unknown> };
    }
    return { error: 'it is not an object' };
  } catch (error) {
    // Report only the position: the parser quotes the text, which may contain a secret.
    const place = /(?:position \d+|line \d+ column \d+)/.exec((error as Error).message)?.[0];
    return { error: place ? `there is an error at ${place}` : 'unexpected end of input' };
  }
}

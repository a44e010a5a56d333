import { execFile } from 'node:child_process';
import { delimiter, sep } from 'node:path';
import { promisify } from 'node:util';
import { environmentWithPath, pathVariable } from '../../config/env.ts';
import { isClone } from './own-package.ts';

const LONGEST_MS = 5_000;

/**
 * Whether the machine's own Node is too old for the server, or there is none. This program may run on another one, which
 * a package brought: the new project does not have it.
 */
export async function isMachineNodeTooOld(): Promise<boolean> {
  const PATH = pathVariable()
    .split(delimiter)
    .filter((folder) => !folder.includes(`node_modules${sep}.bin`))
    .join(delimiter);
  // A version manager may stand in for it: it needs the other variables, and may ask or download something.
  const options = { env: environmentWithPath(PATH), timeout: LONGEST_MS };
  const { stdout } = await promisify(execFile)('node', ['--version'], options).catch(() => ({
    stdout: 'v0.0.0',
  }));
  const [major = 0, minor = 0] = stdout.trim().slice(1).split('.').map(Number);
  // The sources need what Node 24 brought; the build does without.
  const [needed_major, needed_minor] = isClone() ? [24, 0] : [22, 19];
  return major < needed_major || (major === needed_major && minor < needed_minor);
}

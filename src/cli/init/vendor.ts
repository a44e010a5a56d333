import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { VERSION } from '../../config/version.ts';
import { PACKAGE_ROOT } from '../../core/package-files.ts';
import { UsageError } from '../command.ts';
import { exists, type FileChange } from './files.ts';
import { isClone } from './server-package.ts';

/** Where a project keeps the package of the server. */
const VENDORED = `vendor/agent-server-${VERSION}.tgz`;

/** Dependency spec of the vendored package. */
export const VENDORED_SPEC = `file:${VENDORED}`;

/** Packs the running server, a clone with its build first, and plans to write it into the project. */
export async function vendoredPackage(root: string): Promise<FileChange> {
  const state = (await exists(join(root, VENDORED))) ? 'changed' : 'created';
  return { name: VENDORED, state, text: await packed() };
}

async function packed(): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'agent-server-pack-'));
  // An installed package is built, and has no sources to do it again.
  const scripts = isClone() ? [] : ['--ignore-scripts'];
  // By name: npx tells its children another folder to work in.
  const args = ['pack', PACKAGE_ROOT, '--silent', '--pack-destination', folder, ...scripts];
  try {
    // By a shell on Windows, where npm is a batch file. A folder with a space needs quotes there.
    const windows = process.platform === 'win32';
    await promisify(execFile)('npm', windows ? args.map((arg) => `"${arg}"`) : args, {
      cwd: PACKAGE_ROOT,
      shell: windows,
    });
    return await readFile(join(folder, `agent-server-${VERSION}.tgz`));
  } catch (error) {
    const { code, stderr = '' } = error as NodeJS.ErrnoException & { readonly stderr?: string };
    const reason = stderr.trim().split('\n').at(-1) || code;
    throw new UsageError(`init: --vendor cannot pack ${PACKAGE_ROOT} with npm: ${reason}`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

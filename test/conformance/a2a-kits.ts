import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { mustSucceed } from './suite.ts';

const REPOSITORY = 'https://github.com/a2aproject/a2a-tck';

/** The newest commits of the branches 1.0-dev and 0.3.x in November 2026; where a checkout of each may be. */
const KITS = {
  '1.0': { commit: '357c4a87afa2818731590647cccbea31c31733a2', checkout: process.env['A2A_TCK_1_0'] },
  '0.3': { commit: 'eb1f804c27ea25db8805264d9ed2d7ca077a7776', checkout: process.env['A2A_TCK_0_3'] },
};
const CACHE = resolve(import.meta.dirname, '../../node_modules/.cache/a2a-tck');
const REQUIREMENTS = join(import.meta.dirname, 'a2a-requirements.txt');

export type Kit = keyof typeof KITS;

/** A checkout of the kit: the one that the environment names (A2A_TCK_1_0, A2A_TCK_0_3), else one that is fetched once. */
export async function kitFolder(kit: Kit): Promise<string> {
  const { commit, checkout } = KITS[kit];
  if (checkout) return resolve(checkout);
  const folder = join(CACHE, commit);
  if (existsSync(join(folder, 'tests'))) return folder;
  await mkdir(folder, { recursive: true });
  const git = (...args: string[]) => mustSucceed(['git', ...args], { cwd: folder });
  await git('init', '--quiet');
  await git('fetch', '--quiet', '--depth', '1', REPOSITORY, commit);
  await git('checkout', '--quiet', 'FETCH_HEAD');
  return folder;
}

/** A Python, 3.11 or newer, that has what both kits need. */
export async function pythonOfKits(): Promise<string> {
  const folder = join(CACHE, 'python');
  const ready = join(folder, 'bin/pytest');
  if (!existsSync(ready)) {
    await mustSucceed(['python3', '-m', 'venv', folder]);
    await mustSucceed([join(folder, 'bin/pip'), 'install', '--quiet', '--requirement', REQUIREMENTS]);
  }
  return join(folder, 'bin/python');
}

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { command } from './command.ts';

const ROOT = resolve(import.meta.dirname, '../..');

interface PackReport {
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}

/** The package of this repository, built and packed into `folder`. Returns the path of the tarball. */
export async function packedInto(folder: string): Promise<string> {
  const printed = await command('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: ROOT });
  return join(folder, printed.trim().split('\n').at(-1) as string);
}

/** The paths in the package, apart from what the build would add. */
export async function packedPaths(): Promise<string[]> {
  const args = ['pack', '--dry-run', '--ignore-scripts', '--json'];
  const [report] = JSON.parse(await command('npm', args, { cwd: ROOT })) as [PackReport];
  return report.files.map(({ path }) => path);
}

/** An empty folder; gone when the test ends. */
export async function emptyFolder(): Promise<{ readonly path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), 'agent-server-package-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** The folder of the `node` program of a version: of this one, or of the registry's newest one of `major`. */
export async function nodeFolder(major: number, folder: string): Promise<string> {
  if (process.versions.node.startsWith(`${major}.`)) return dirname(process.execPath);
  await mkdir(folder);
  // The package fetches its program by a script.
  await writeFile(join(folder, 'package.json'), '{ "private": true, "allowScripts": { "node": true } }\n');
  await command('npm', ['install', `node@${major}`], { cwd: folder });
  return join(folder, 'node_modules/node/bin');
}

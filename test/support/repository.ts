import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Files } from './deployments.ts';
import { needs } from './needs.ts';

/** A git repository of its own, with these files in its first commit. */
export async function repository(files: Files) {
  needs('git');
  const folder = await mkdtemp(join(tmpdir(), 'agent-server-repository-'));
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', folder, '-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', ...args], {
      encoding: 'utf8',
    }).trim();
  const commit = async (changed: Files, message: string) => {
    for (const [name, content] of Object.entries(changed)) {
      await mkdir(join(folder, name, '..'), { recursive: true });
      await writeFile(join(folder, name), content);
    }
    git('add', '-A');
    git('commit', '-qm', message);
    return git('rev-parse', 'HEAD');
  };
  git('init', '-q', '-b', 'main');
  const first = await commit(files, 'first');
  return {
    url: pathToFileURL(folder).href,
    first,
    commit,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

/** The commit that a repository has checked out. */
export function headOf(url: string): string {
  return execFileSync('git', ['-C', fileURLToPath(url), 'rev-parse', 'HEAD'], { encoding: 'utf8' }).trim();
}

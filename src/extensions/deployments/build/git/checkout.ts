import { lstat, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { BuildContext } from '../build-context.ts';
import { fetchFolder } from '../folders.ts';
import { readProjectFile } from '../project/project-file.ts';
import type { Commit, GitSource } from '../request.ts';
import { type GitRemote, gitRemote } from './git.ts';
import { type FoundRef, findRef } from './refs.ts';
import { fetchSubmodules } from './submodules.ts';

/** The specification of Git LFS limits pointer files to less than this. */
const MAX_POINTER_BYTES = 1024;

export interface Checkout {
  readonly commit: Commit;
  readonly known_hosts?: string | undefined;
}

/** Fetches one commit of a repository, without history, into `root`. No file in `root` contains credentials. */
export async function checkoutSource(
  context: BuildContext,
  source: GitSource,
  root: string,
): Promise<Checkout> {
  const { request, signal } = context;
  const folder = fetchFolder(request.folder);
  const onLine = (line: string) => context.log('source', 'INFO', line);
  try {
    const remote = await gitRemote(source, request, {
      folder,
      measured: [request.folder],
      limits: request.limits,
      signal,
      onLine,
    });
    const found = await findRef(remote, source.ref);
    const hosts = await remote.signIn.knownHosts();
    if (hosts !== undefined && source.credentials?.kind === 'deploy_key') await request.onHostKeys?.(hosts);
    context.log('source', 'INFO', `Fetching ${found.ref} of ${remote.address.url}`);
    await fetchCommit(remote, found, root);
    await fetchSubmodules(context, remote, root);
    await warnOfPointers(context, remote, root);
    const commit = await readCommit(remote, root);
    context.log('source', 'INFO', `Commit ${commit.sha} by ${commit.author}: ${commit.message}`);
    await request.onCommit?.(commit.sha);
    signal.throwIfAborted();
    return { commit, known_hosts: await remote.signIn.knownHosts() };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function fetchCommit(remote: GitRemote, { ref }: FoundRef, root: string): Promise<void> {
  await mkdir(root, { mode: 0o700 });
  const run = (...args: string[]) => remote.run(args, { cwd: root, logs: true });
  await run('init', '--quiet', '--template=');
  // Pass the address as an argument: a remote would store it in the configuration.
  const shallow = ['--depth=1', '--no-tags', '--no-recurse-submodules', '--quiet'];
  await run('fetch', ...shallow, '--', remote.address.url, ref);
  await run('checkout', '--quiet', '--detach', 'FETCH_HEAD');
  await rm(join(root, '.git', 'FETCH_HEAD'), { force: true });
}

async function readCommit(remote: GitRemote, root: string): Promise<Commit> {
  const format = '--format=%H%n%an <%ae>%n%cI%n%s';
  const text = await remote.run(['log', '-1', '--no-show-signature', format], { cwd: root });
  const [sha = '', author = '', time = '', message = ''] = text.split('\n');
  return { sha, author, message: message.slice(0, 500), time };
}

/** Warns about Git LFS files, which are not fetched: a graph would read a pointer file instead. */
async function warnOfPointers({ log }: BuildContext, remote: GitRemote, root: string): Promise<void> {
  const tracked = await remote.run(['ls-files', '-z', '--', ':(attr:filter=lfs)'], { cwd: root });
  const pointers: string[] = [];
  for (const path of tracked.split('\0').filter(Boolean)) {
    const { size } = await lstat(join(root, path));
    const text = size <= MAX_POINTER_BYTES ? await readProjectFile(root, path) : undefined;
    if (text?.toString().startsWith('version https://git-lfs.github.com/')) pointers.push(path);
  }
  const [first] = pointers;
  if (first === undefined) return;
  const what = pointers.length === 1 ? `${first} is` : `${pointers.length} files, such as ${first}, are`;
  const advice = 'Commit the files that graphs read without LFS, or fetch them in the build command.';
  log(
    'source',
    'WARNING',
    `${what} in Git LFS, which is not fetched: the build sees only pointer files. ${advice}`,
  );
}

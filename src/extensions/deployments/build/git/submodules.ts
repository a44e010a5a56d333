import { access } from 'node:fs/promises';
import { join, posix } from 'node:path';
import type { BuildContext } from '../build-context.ts';
import { BuildFailure } from '../build-failure.ts';
import { checkedAddress } from './address.ts';
import type { GitRemote } from './git.ts';

/** Index mode of a submodule entry. */
const SUBMODULE = '160000 ';

/**
 * Fetches one level of submodules, if allowed, after checking each address like the repository's. Otherwise logs a
 * warning about the empty folders, and throws if the configuration is in one of them.
 */
export async function fetchSubmodules(context: BuildContext, remote: GitRemote, root: string): Promise<void> {
  const { request } = context;
  if (request.allow_submodules !== true) return await warnOfSubmodules(context, remote, root);
  if (!(await exists(join(root, '.gitmodules')))) return;
  await remote.run(['config', '--local', 'remote.origin.url', remote.address.url], { cwd: root });
  await remote.run(['submodule', 'init', '--quiet'], { cwd: root, logs: true });
  // Each entry is `name`, a line break and `value`.
  const settings = (await remote.run(['config', '--local', '--list', '-z'], { cwd: root })).split('\0');
  for (const setting of settings.filter((text) => /^submodule\.[^\n]{1,500}\.url\n/.test(text))) {
    const url = setting.slice(setting.indexOf('\n') + 1);
    const { protocol } = await checkedAddress(url, request);
    if (protocol !== remote.address.protocol) throw submoduleProtocol(url, remote.address.protocol);
  }
  await remote.run(['submodule', 'update', '--depth=1', '--quiet', '--no-recommend-shallow'], {
    cwd: root,
    logs: true,
  });
}

/** Also finds entries without an address, as after committing a folder that contains a repository. */
async function warnOfSubmodules(
  { request, log }: BuildContext,
  remote: GitRemote,
  root: string,
): Promise<void> {
  const entries = await remote.run(['ls-files', '--stage', '-z'], { cwd: root });
  const folders = entries
    .split('\0')
    .filter((entry) => entry.startsWith(SUBMODULE))
    .map((entry) => entry.slice(entry.indexOf('\t') + 1));
  const [first] = folders;
  if (first === undefined) return;
  const holder = folders.find((folder) => posix.normalize(request.config_path).startsWith(`${folder}/`));
  if (holder !== undefined) throw configInSubmodule(request.config_path, holder);
  const what =
    folders.length === 1
      ? `The folder ${first} is empty: it is a submodule, which is not fetched.`
      : `${folders.length} folders, such as ${first}, are empty: they are submodules, which are not fetched.`;
  log('source', 'WARNING', `${what} ${ADVICE}`);
}

const ADVICE =
  'Commit the files themselves, or upload the folder of the project, with its submodules checked out.';

function configInSubmodule(config_path: string, folder: string): BuildFailure {
  return new BuildFailure('source', {
    code: 'submodule_not_fetched',
    message: `${config_path} is in the submodule ${folder}, and submodules are not fetched.`,
    hint: ADVICE,
  });
}

function submoduleProtocol(url: string, protocol: string): BuildFailure {
  return new BuildFailure('source', {
    code: 'submodule_protocol',
    message: `The submodule ${url} does not use ${protocol}, the protocol of the repository.`,
    hint: 'Give the submodule a URL relative to the repository, such as ../name.git.',
  });
}

async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}

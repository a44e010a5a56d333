import { access, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { BuildRequest } from '../../../src/extensions/deployments/build/request.ts';
import { commit, git, PROJECT, TestDeployment, writeFiles } from '../../support/builds.ts';
import { naming } from '../../support/naming.ts';

/** A commit of another repository, as far as the index says: no such repository is needed. */
async function addSubmodule(repository: string, folder: string, settings?: string): Promise<void> {
  const id = 'a'.repeat(40);
  await git(repository, 'update-index', '--add', '--cacheinfo', `160000,${id},${folder}`);
  if (settings !== undefined) await writeFiles(repository, { '.gitmodules': settings });
  if (settings !== undefined) await git(repository, 'add', '.gitmodules');
  await git(repository, 'commit', '--quiet', '-m', 'with a submodule');
}

async function withSubmodules(deployment: TestDeployment, folders: readonly string[]): Promise<string> {
  const repository = await deployment.repository('app', PROJECT);
  for (const folder of folders) await addSubmodule(repository, folder);
  return `file://${repository}`;
}

const from = (url: string): Pick<BuildRequest, 'source'> => ({ source: { kind: 'git', url, ref: 'main' } });

function warningsOf({ lines }: TestDeployment): string[] {
  return lines
    .filter(({ step, level }) => step === 'source' && level === 'WARNING')
    .map(({ message }) => message);
}

test.each([
  [['tools'], 'The folder tools is empty: it is a submodule, which is not fetched.'],
  [['b/tools', 'a'], '2 folders, such as a, are empty: they are submodules, which are not fetched.'],
])('the log of a build warns that the submodules %j are not fetched', async (folders, text) => {
  await using deployment = await TestDeployment.create();
  await deployment.build(from(await withSubmodules(deployment, folders)));
  expect(warningsOf(deployment)).toEqual([expect.stringContaining(text)]);
});

test('a build whose configuration is in a submodule fails with the reason', async () => {
  await using deployment = await TestDeployment.create();
  const url = await withSubmodules(deployment, ['apps/agent']);
  const failure = await deployment.failure({ ...from(url), config_path: './apps/agent/langgraph.json' });
  expect(failure).toMatchObject({
    step: 'source',
    code: 'submodule_not_fetched',
    message: naming('./apps/agent/langgraph.json', 'submodule apps/agent,'),
  });
});

test('a .gitmodules without submodules causes no warning', async () => {
  await using deployment = await TestDeployment.create();
  const repository = await deployment.repository('app', { ...PROJECT, '.gitmodules': '' });
  await deployment.build(from(`file://${repository}`));
  expect(warningsOf(deployment)).toEqual([]);
});

describe('where submodules are allowed', () => {
  const OWNED = 'owned-by-a-submodule';

  test.each([
    ['is not a configuration of git', '[submodule "s', 'git_failed'],
    ['runs a command', `path = sub\n url = URL\n update = !touch ${OWNED}`, 'git_failed'],
    ['has an option as its address', `path = sub\n url = --upload-pack=touch ${OWNED}`, 'git_failed'],
    ['has a transport that runs a command', `path = sub\n url = ext::touch ${OWNED}`, 'url_invalid'],
    ['is reached in another way', 'path = sub\n url = git@example.com:a/b.git', 'submodule_protocol'],
    ['is missing', 'path = sub\n url = URL-of-none', 'repository_not_found'],
    ['lacks the commit', 'path = sub\n url = URL', 'ref_not_found'],
  ])('a submodule that %s fails the build with the reason and runs nothing', async (_, settings, code) => {
    await using deployment = await TestDeployment.create();
    const other = await deployment.repository('other', { 'file.txt': 'inside' });
    const repository = await deployment.repository('app', PROJECT);
    const text = settings.includes('[') ? settings : `[submodule "s"]\n ${settings}\n`;
    await addSubmodule(repository, 'sub', text.replace('URL', `file://${other}`));
    const failure = await deployment.failure({ ...from(`file://${repository}`), allow_submodules: true });
    expect(failure).toMatchObject({ step: 'source', code });
    expect(failure.message).not.toContain(join(deployment.folder, 'revisions'));
    for (const folder of ['revisions/1/source', 'revisions/1', 'app', '.'])
      await expect(access(join(deployment.folder, folder, OWNED))).rejects.toThrow('ENOENT');
  });

  test('a link in place of a submodule lets no file be written through it', async () => {
    await using deployment = await TestDeployment.create();
    const other = await deployment.repository('other', { 'file.txt': 'inside' });
    const repository = await deployment.repository('app', PROJECT);
    await symlink(deployment.folder, join(repository, 'sub'));
    await writeFiles(repository, {
      '.gitmodules': `[submodule "s"]\n path = sub\n url = file://${other}\n`,
    });
    await commit(repository, 'a link');
    await deployment.build({ ...from(`file://${repository}`), allow_submodules: true });
    await expect(access(join(deployment.folder, 'file.txt'))).rejects.toThrow('ENOENT');
  });
});

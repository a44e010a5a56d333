import { lstat, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commit, git, PROJECT, projectWithScript, TestDeployment, writeFiles } from '../../support/builds.ts';

test('a repository is built from a branch, and the revision names its commit', async () => {
  await using deployment = await TestDeployment.create();
  const repository = await deployment.repository('app', projectWithScript('console.log("installing")'));
  const sha = await commit(repository, 'Say hello\n\nAnd more.');
  const built = await deployment.build({ source: { kind: 'git', url: `file://${repository}`, ref: 'main' } });

  expect(built).toMatchObject({
    commit: { sha, author: 'Ada <ada@example.com>', message: 'Say hello' },
    package_manager: 'npm',
    reused_modules: false,
    config_file: join(built.root, 'langgraph.json'),
  });
  expect(Date.parse(built.commit?.time ?? '')).toBeGreaterThan(0);
  expect(deployment.steps.map(({ name, status }) => `${name} ${status}`)).toEqual([
    'source running',
    'source success',
    'config running',
    'config success',
    'install running',
    'install success',
  ]);
  expect(deployment.log).toContain('install INFO installing');
  expect(await readdir(built.root)).not.toContain('.git');
  expect((await readdir(join(built.root, '..'))).sort()).toEqual(['build.json', 'source']);
});

test('only the server may enter the folder of a revision and the cache', async () => {
  await using deployment = await TestDeployment.create();
  const path = await deployment.write('app', PROJECT);
  const built = await deployment.build({ source: { kind: 'folder', path } });
  for (const folder of [join(built.root, '..'), join(deployment.folder, 'cache')]) {
    const { mode, uid } = await stat(folder);
    expect([mode & 0o777, uid]).toEqual([0o700, process.getuid?.()]);
  }
});

test('a build can name a tag, a commit or the default branch', async () => {
  await using deployment = await TestDeployment.create();
  const repository = await deployment.repository('app', PROJECT);
  const first = await git(repository, 'rev-parse', 'HEAD');
  await git(repository, 'tag', '-a', 'v1', '-m', 'one');
  const second = await commit(repository, 'second');
  const shaOf = async (ref: string) =>
    (await deployment.build({ source: { kind: 'git', url: `file://${repository}`, ref } })).commit?.sha;
  expect(await shaOf('refs/tags/v1')).toBe(first);
  expect(await shaOf('v1')).toBe(first);
  expect(await shaOf('HEAD')).toBe(second);
  expect(await shaOf(first)).toBe(first);
});

test('a configuration in a folder of a monorepo is built with the packages of the lock file above it', async () => {
  await using deployment = await TestDeployment.create();
  const path = await deployment.write('app', {
    ...projectWithScript('console.log("installing in " + process.cwd())'),
    'apps/agent/langgraph.json': { graphs: {} },
    'apps/agent/package.json': { name: 'agent', dependencies: {} },
  });
  const built = await deployment.build({
    source: { kind: 'folder', path },
    config_path: 'apps/agent/langgraph.json',
    build_command: 'pwd > built-in',
  });
  expect(deployment.log).toContain(`installing in ${built.root}\n`);
  expect(built.config_file).toBe(join(built.root, 'apps/agent/langgraph.json'));
  expect(await readFile(join(built.root, 'apps/agent/built-in'), 'utf8')).toBe(`${built.root}/apps/agent\n`);
});

test('the install and build commands of a deployment replace the package manager and get its variables', async () => {
  await using deployment = await TestDeployment.create();
  const path = await deployment.write('app', { 'langgraph.json': { graphs: {} } });
  const built = await deployment.build({
    source: { kind: 'folder', path },
    install_command:
      'mkdir -p node_modules/.bin && printf \'#!/bin/sh\\necho compiled with $FLAG > out\' > node_modules/.bin/compile && chmod +x node_modules/.bin/compile; echo "the flag is $FLAG"',
    build_command: 'compile',
    build_env: { FLAG: 'value-of-the-flag' },
  });
  expect(built.package_manager).toBe('none');
  expect(await readFile(join(built.root, 'out'), 'utf8')).toBe('compiled with value-of-the-flag\n');
  expect(deployment.log).toContain('install INFO the flag is ***');
});

test('an interrupted build restarts from the beginning', async () => {
  await using deployment = await TestDeployment.create();
  const path = await deployment.write('app', PROJECT);
  const request = deployment.request({ source: { kind: 'folder', path } });
  await writeFiles(request.folder, { 'source/half': 'x', 'fetch/deploy_key': 'x', 'build.json': '{' });
  const built = await deployment.build({ ...request });
  expect((await readdir(built.root)).sort()).toEqual(['agent.mjs', 'langgraph.json', 'package.json']);
  expect(JSON.parse(await readFile(join(request.folder, 'build.json'), 'utf8'))).toMatchObject({
    modules: [],
  });
});

test('a source folder that contains the deployments folder is copied without it, and links are copied as links', async () => {
  await using deployment = await TestDeployment.create();
  const path = await deployment.write('app', {
    ...PROJECT,
    'node_modules/x/index.js': '',
    '.git/config': '',
  });
  const { symlink } = await import('node:fs/promises');
  await symlink('/etc/passwd', join(path, 'link'));
  const built = await deployment.build({
    source: { kind: 'folder', path },
    folder: join(path, 'deployments/1'),
  });
  expect((await readdir(built.root)).sort()).toEqual([
    'agent.mjs',
    'deployments',
    'langgraph.json',
    'link',
    'package.json',
  ]);
  expect(await readdir(join(built.root, 'deployments'))).toEqual([]);
  expect((await lstat(join(built.root, 'link'))).isSymbolicLink()).toBe(true);
});

import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packagesFingerprint } from '../../../src/extensions/deployments/build/install/reuse.ts';
import type { BuildRequest } from '../../../src/extensions/deployments/build/request.ts';
import {
  lockFile,
  PROJECT,
  type ProjectFiles,
  pack,
  TestDeployment,
  writeFiles,
} from '../../support/builds.ts';

/** A project with one package, in version 1 or 2. */
async function project(deployment: TestDeployment, version = 1, content = version): Promise<string> {
  const manifest = { name: 'project', version: '1.0.0', dependencies: { left: `file:left-${version}.tgz` } };
  const packages = {
    'node_modules/left': { version: `${version}.0.0`, resolved: `file:left-${version}.tgz` },
  };
  const files = { ...PROJECT, 'package.json': manifest, 'package-lock.json': lockFile(manifest, packages) };
  const path = await deployment.write('app', files);
  const package_ = {
    'package.json': { name: 'left', version: `${version}.0.0` },
    'index.js': `module.exports = ${content};`,
  };
  await pack(path, `left-${version}`, package_);
  return path;
}

async function buildTwice(
  change: ProjectFiles,
  second: Partial<BuildRequest> = {},
  first: Partial<BuildRequest> = {},
) {
  const deployment = await TestDeployment.create();
  const path = await project(deployment);
  const source = { kind: 'folder', path } as const;
  const one = deployment.request({ source, ...first });
  await deployment.build(one);
  await writeFiles(path, change);
  const built = await deployment.build({ source, previous: one.folder, ...second });
  const of = (folder: string) => join(folder, 'node_modules/left/index.js');
  const inodes = await Promise.all(
    [of(join(one.folder, 'source')), of(built.root)].map(async (file) => (await stat(file)).ino),
  );
  return {
    deployment,
    built,
    shared: inodes[0] === inodes[1],
    [Symbol.asyncDispose]: () => deployment[Symbol.asyncDispose](),
  };
}

test('packages are reused without a copy while the lock file is unchanged', async () => {
  await using result = await buildTwice({ 'agent.mjs': 'export const graph = 2;' });
  expect(result.built).toMatchObject({ package_manager: 'npm', reused_modules: true });
  expect(result.shared).toBe(true);
  expect(result.deployment.log).toMatch(/package-lock\.json .*reused/);
  expect(await readFile(join(result.built.root, 'node_modules/left/index.js'), 'utf8')).toBe(
    'module.exports = 1;',
  );
});

test('a build command gets its own copy of the packages, so that it cannot change those of another revision', async () => {
  await using result = await buildTwice({}, { build_command: 'echo changed > node_modules/left/index.js' });
  expect(result.built.reused_modules).toBe(true);
  expect(result.shared).toBe(false);
  const of = (revision: string) =>
    readFile(
      join(result.deployment.folder, 'revisions', revision, 'source/node_modules/left/index.js'),
      'utf8',
    );
  expect([await of('1'), await of('2')]).toEqual(['module.exports = 1;', 'changed\n']);
});

test.skipIf(process.getuid?.() !== 0)(
  'packages and a cache owned by another user are not reused',
  async () => {
    await using result = await buildTwice({}, { isolations: ['none'] });
    expect(result.built.reused_modules).toBe(false);
    const file = join(result.built.root, 'node_modules/left/index.js');
    const cache = join(result.deployment.folder, 'cache/packages');
    expect([(await stat(file)).uid, (await stat(cache)).uid]).toEqual([0, 0]);
  },
);

test.each<[string, ProjectFiles, Partial<BuildRequest>]>([
  ['the settings of npm', { '.npmrc': 'omit=optional\n' }, {}],
  ['whether scripts run', {}, { ignore_scripts: true }],
  ['the manifest of a workspace', { 'packages/a/package.json': { name: 'a', dependencies: {} } }, {}],
  ['the folder of the last revision', {}, { previous: '/nowhere/at/all' }],
])('packages are installed anew after a change of %s', async (_, files, request) => {
  await using result = await buildTwice(files, request);
  expect(result.built.reused_modules).toBe(false);
  expect(result.shared).toBe(false);
});

test('packages are installed anew for another lock file', async () => {
  await using deployment = await TestDeployment.create();
  const one = deployment.request({ source: { kind: 'folder', path: await project(deployment) } });
  await deployment.build(one);
  const source = { kind: 'folder', path: await project(deployment, 2) } as const;
  const built = await deployment.build({ source, previous: one.folder });
  expect(built.reused_modules).toBe(false);
  expect(await readFile(join(built.root, 'node_modules/left/index.js'), 'utf8')).toBe('module.exports = 2;');
});

test('packages are installed anew if one of them is packed in the sources and has changed', async () => {
  await using deployment = await TestDeployment.create();
  const one = deployment.request({ source: { kind: 'folder', path: await project(deployment) } });
  await deployment.build(one);
  const source = { kind: 'folder', path: await project(deployment, 1, 7) } as const;
  const built = await deployment.build({ source, previous: one.folder });
  expect(await readFile(join(built.root, 'node_modules/left/index.js'), 'utf8')).toBe('module.exports = 7;');
});

test('packages are not reused if one of them is a folder of the sources', async () => {
  await using deployment = await TestDeployment.create();
  const root = await deployment.write('app', {
    'apps/agent/package.json': { name: 'agent', dependencies: { left: 'file:../../left' } },
    'left/package.json': { name: 'left', version: '1.0.0' },
    'pnpm-lock.yaml': 'lockfileVersion: 9',
  });
  const plan = { manager: 'pnpm', folder: '', lock_file: 'pnpm-lock.yaml', ignored: [] } as const;
  const found = await packagesFingerprint(root, { ...plan, is_classic_yarn: false, manifest: {} }, true);
  expect(found).toEqual({ reason: expect.stringContaining('apps/agent/package.json') });
});

test('packages are installed anew if the project has install scripts, which may depend on any file', async () => {
  const scripts = { postinstall: 'echo script' };
  await using result = await buildTwice({});
  const { deployment } = result;
  const path = join(deployment.folder, 'app');
  const manifest = JSON.parse(await readFile(join(path, 'package.json'), 'utf8'));
  await writeFile(join(path, 'package.json'), JSON.stringify({ ...manifest, scripts }));
  const previous = join(deployment.folder, 'revisions/2');
  const built = await deployment.build({ source: { kind: 'folder', path }, previous });
  expect(built.reused_modules).toBe(false);
  expect(deployment.log).toMatch(/reinstalled .*package\.json .*scripts/);
});

test('a link in place of a folder does not redirect the installed packages', async () => {
  await using deployment = await TestDeployment.create();
  const path = await project(deployment);
  const files = { 'apps/a/package.json': { name: 'a' } };
  await writeFiles(path, files);
  const source = { kind: 'folder', path } as const;
  const one = deployment.request({
    source,
    build_command: 'mkdir -p apps/a/node_modules/x && echo x > apps/a/node_modules/x/file',
  });
  await deployment.build(one);
  const elsewhere = await deployment.write(
    'elsewhere',
    files['apps/a/package.json'] ? { 'package.json': { name: 'a' } } : {},
  );
  const { rm, symlink, readdir } = await import('node:fs/promises');
  await rm(join(path, 'apps/a'), { recursive: true });
  await symlink(elsewhere, join(path, 'apps/a'));
  const built = await deployment.build({ source, previous: one.folder });
  expect(built.reused_modules).toBe(false);
  expect(await readdir(elsewhere)).toEqual(['package.json']);
});

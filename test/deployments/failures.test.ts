import { execFileSync } from 'node:child_process';
import { access, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { BuildRequest } from '../../src/deployments/request.ts';
import {
  lockFile,
  MB,
  PROJECT,
  type ProjectFiles,
  pack,
  projectWithScript,
  TestDeployment,
} from '../support/builds.ts';
import { freePort } from '../support/free-port.ts';
import { GitServer } from '../support/git-server.ts';

interface Case {
  readonly name: string;
  readonly step: string;
  readonly code: string;
  readonly files?: ProjectFiles;
  readonly request?: Partial<BuildRequest> | ((deployment: TestDeployment) => Promise<Partial<BuildRequest>>);
}

const SLOW = 120_000;
const LIMITS = { seconds: 60, memory_bytes: 4096 * MB, disk_bytes: 1024 * MB };
const git = (url: string, ref = 'main') => ({ source: { kind: 'git' as const, url, ref } });
const withLimits = (limits: Partial<typeof LIMITS>) => ({ limits: { ...LIMITS, ...limits } });

const SOURCES: Case[] = [
  { name: 'an address that is none', step: 'source', code: 'url_invalid', request: git('not a url') },
  {
    name: 'an option as an address',
    step: 'source',
    code: 'url_invalid',
    request: git('--upload-pack=touch /tmp/x'),
  },
  {
    name: 'a transport that runs a command',
    step: 'source',
    code: 'url_invalid',
    request: git('ext::sh -c id'),
  },
  { name: 'plain http', step: 'source', code: 'url_invalid', request: git('http://example.com/a.git') },
  {
    name: 'an option as a host of ssh',
    step: 'source',
    code: 'url_invalid',
    request: git('ssh://-oProxyCommand=id/x'),
  },
  {
    name: 'a token in the address',
    step: 'source',
    code: 'credentials_in_url',
    request: git('https://a:b@example.com/a'),
  },
  {
    name: 'an option as a ref',
    step: 'source',
    code: 'ref_invalid',
    request: repository('--upload-pack=id'),
  },
  { name: 'a range as a ref', step: 'source', code: 'ref_invalid', request: repository('main..other') },
  { name: 'a branch that is missing', step: 'source', code: 'ref_not_found', request: repository('nowhere') },
  {
    name: 'a commit that is missing',
    step: 'source',
    code: 'ref_not_found',
    request: repository('a'.repeat(40)),
  },
  {
    name: 'a host that is unknown',
    step: 'source',
    code: 'host_unknown',
    request: git('https://host.invalid/a.git'),
  },
  {
    name: 'a host that does not answer',
    step: 'source',
    code: 'host_unreachable',
    request: async () => git(`https://127.0.0.1:${await freePort()}/a.git`),
  },
  {
    name: 'a repository that is missing',
    step: 'source',
    code: 'repository_not_found',
    request: async ({ folder }) => git(`file://${folder}/nowhere`),
  },
  {
    name: 'a local repository that is not allowed',
    step: 'source',
    code: 'file_urls_forbidden',
    request: { ...git('file:///tmp/a'), allow_file_urls: false },
  },
  {
    name: 'a local folder that is not allowed',
    step: 'source',
    code: 'file_urls_forbidden',
    request: { source: { kind: 'folder', path: '/tmp' }, allow_file_urls: false },
  },
  {
    name: 'a folder that is missing',
    step: 'source',
    code: 'folder_missing',
    request: { source: { kind: 'folder', path: '/nowhere/at/all' } },
  },
  {
    name: 'a folder that is too large',
    step: 'source',
    code: 'disk_limit',
    files: { ...PROJECT, 'large.txt': 'x'.repeat(2 * MB) },
    request: withLimits({ disk_bytes: MB }),
  },
  {
    name: 'a repository that is too large',
    step: 'source',
    code: 'disk_limit',
    request: async (deployment) => {
      const files = { ...PROJECT, 'large.txt': 'x'.repeat(20 * MB) };
      return {
        ...git(`file://${await deployment.repository('large', files)}`),
        ...withLimits({ disk_bytes: 4 * MB }),
      };
    },
  },
  {
    name: 'a server without git',
    step: 'source',
    code: 'tool_missing',
    request: { ...git('https://example.com/a.git'), env: { PATH: '/nowhere' } },
  },
];

const PROJECTS: Case[] = [
  {
    name: 'a configuration that is missing',
    step: 'config',
    code: 'config_missing',
    files: { 'package.json': {} },
  },
  {
    name: 'a configuration outside the repository',
    step: 'config',
    code: 'config_path_invalid',
    request: { config_path: '../other/langgraph.json' },
  },
  {
    name: 'a configuration that is not JSON',
    step: 'config',
    code: 'config_invalid',
    files: { ...PROJECT, 'langgraph.json': '{"graphs":' },
  },
  {
    name: 'graphs in Python',
    step: 'config',
    code: 'python_project',
    files: { 'langgraph.json': { graphs: { a: './a.py:graph' } } },
  },
  {
    name: 'a project without package.json',
    step: 'config',
    code: 'package_json_missing',
    files: { 'langgraph.json': {} },
  },
  {
    name: 'a package.json that is not JSON',
    step: 'config',
    code: 'package_json_invalid',
    files: { ...PROJECT, 'package.json': '<<<<<<< HEAD' },
  },
  {
    name: 'a Node that the project excludes',
    step: 'config',
    code: 'engines_not_met',
    files: { ...PROJECT, 'package.json': { engines: { node: '>=99' } } },
  },
  {
    name: 'a Node that the configuration does not have yet',
    step: 'config',
    code: 'engines_not_met',
    files: { ...PROJECT, 'langgraph.json': { node_version: '99' } },
  },
];

const COMMANDS: Case[] = [
  {
    name: 'a lock file that does not fit',
    step: 'install',
    code: 'lock_file_out_of_date',
    request: async (deployment) => {
      const manifest = { name: 'project', version: '1.0.0' };
      const packages = { 'node_modules/left': { version: '1.0.0', resolved: 'file:left-1.tgz' } };
      const path = await deployment.write('locked', {
        ...PROJECT,
        'package.json': { ...manifest, dependencies: { left: 'file:left-2.tgz' } },
        'package-lock.json': lockFile({ ...manifest, dependencies: { left: 'file:left-1.tgz' } }, packages),
      });
      for (const n of [1, 2])
        await pack(path, `left-${n}`, { 'package.json': { name: 'left', version: `${n}.0.0` } });
      return { source: { kind: 'folder', path } };
    },
  },
  {
    name: 'a lock file that is none',
    step: 'install',
    code: 'lock_file_invalid',
    files: { ...PROJECT, 'package.json': { dependencies: { a: '1' } }, 'package-lock.json': '<<<<<<< HEAD' },
  },
  {
    name: 'a registry that does not answer',
    step: 'install',
    code: 'registry_unreachable',
    files: {
      ...PROJECT,
      'package.json': { dependencies: { left: '1.0.0' } },
      '.npmrc': 'registry=http://127.0.0.1:1/\nfetch-retries=0\n',
    },
  },
  {
    name: 'a package manager that is missing',
    step: 'install',
    code: 'package_manager_missing',
    files: { ...PROJECT, 'bun.lock': '{}' },
    request: { env: { PATH: '/usr/bin:/bin' } },
  },
  {
    name: 'an install script that fails',
    step: 'install',
    code: 'install_failed',
    files: projectWithScript('process.exit(3)'),
  },
  {
    name: 'an install script that hangs',
    step: 'install',
    code: 'time_limit',
    files: projectWithScript('setInterval(() => {}, 1000)'),
    request: withLimits({ seconds: 5 }),
  },
  {
    name: 'an install script that fills the disk with many files',
    step: 'install',
    code: 'disk_limit',
    files: projectWithScript(`
      import { writeFileSync } from 'node:fs';
      for (let n = 0; n < 40; n++) writeFileSync('file-' + n, Buffer.alloc(1024 * 1024, 'x'));
      setInterval(() => {}, 1000);`),
    request: withLimits({ disk_bytes: 20 * MB }),
  },
  {
    name: 'an install script that writes one large file',
    step: 'install',
    code: 'disk_limit',
    files: projectWithScript(
      "(await import('node:fs')).writeFileSync('large', Buffer.alloc(40 * 1024 * 1024))",
    ),
    request: withLimits({ disk_bytes: 20 * MB }),
  },
  {
    name: 'an install script that takes too much memory',
    step: 'install',
    code: 'memory_limit',
    files: projectWithScript(
      'globalThis.kept = Buffer.alloc(600 * 1024 * 1024, 1); setInterval(() => {}, 1000)',
    ),
    request: withLimits({ memory_bytes: 500 * MB }),
  },
  {
    name: 'an install command whose program is missing',
    step: 'install',
    code: 'command_not_found',
    request: { install_command: 'no-such-program --now' },
  },
  {
    name: 'an install command that fails',
    step: 'install',
    code: 'install_failed',
    request: { install_command: 'echo something is wrong; exit 4' },
  },
  {
    name: 'a build command that fails',
    step: 'build',
    code: 'build_failed',
    request: { build_command: 'exit 2' },
  },
  {
    name: 'a build command whose program is missing',
    step: 'build',
    code: 'command_not_found',
    request: { build_command: 'no-such-compiler' },
  },
  {
    name: 'a build command that is killed',
    step: 'build',
    code: 'killed',
    request: { build_command: 'kill -9 $$' },
  },
  {
    name: 'a build that is interrupted before it begins',
    step: 'source',
    code: 'aborted',
    request: { signal: AbortSignal.abort() },
  },
];

function repository(ref: string): NonNullable<Case['request']> {
  return async (deployment) => git(`file://${await deployment.repository('repository', PROJECT)}`, ref);
}

describe.each([...SOURCES, ...PROJECTS, ...COMMANDS])(
  '$name',
  ({ step, code, files = PROJECT, request = {} }) => {
    test(`fails the step ${step} with ${code}, one sentence and a hint`, { timeout: SLOW }, async () => {
      await using deployment = await TestDeployment.create();
      const path = await deployment.write('app', files);
      const overrides = typeof request === 'function' ? await request(deployment) : request;
      const failure = await deployment.failure({ source: { kind: 'folder', path }, ...overrides });

      expect([failure.step, failure.code, failure.message]).toEqual([
        step,
        code,
        expect.stringMatching(/^\S.*\.$/s),
      ]);
      expect(failure.hint).toMatch(/^[A-Z].*\.$/);
      expect(`${failure.message} ${failure.hint}`).not.toMatch(/undefined|\[object|\n/);
      const errors = deployment.lines.filter(({ level }) => level === 'ERROR');
      expect(errors).toEqual([{ step, level: 'ERROR', message: `${failure.message} ${failure.hint}` }]);
      const open = deployment.steps.filter(({ name, status }) => name === step && status === 'running');
      const ended = deployment.steps.filter(({ name, status }) => name === step && status === 'error');
      expect(ended.length).toBe(open.length);
      // Nothing of it stays but the folder.
      expect(await readdir(join(deployment.folder, 'revisions/1')).catch(() => [])).toEqual([]);
    });
  },
);

test('a repository that needs credentials, or gets wrong ones, says which', async () => {
  await using deployment = await TestDeployment.create();
  await deployment.repository('repositories/private', PROJECT);
  await using server = await GitServer.start(join(deployment.folder, 'repositories'), {
    private: 'ada:right',
  });
  const { ca_file } = server;
  const codeWith = async (request: Partial<BuildRequest>) =>
    (await deployment.failure({ ...git(server.url('private')), ca_file, ...request })).code;
  const token = 'the-wrong-token';
  const wrong = {
    ...git(server.url('private')).source,
    credentials: { kind: 'token' as const, username: 'ada', token },
  };
  expect(await codeWith({})).toBe('authentication_required');
  expect(await codeWith({ source: wrong })).toBe('authentication_refused');
  expect(deployment.log).not.toContain(token);
  expect(await codeWith(git(server.url('nowhere')))).toBe('repository_not_found');
  expect(await codeWith({ ca_file: undefined })).toBe('certificate_untrusted');
});

test('options in addresses and refs have started no program', async () => {
  await expect(access('/tmp/x')).rejects.toThrow('ENOENT');
});

test('a tarball that is missing, not compressed, or damaged says so', async () => {
  await using deployment = await TestDeployment.create();
  const folder = await deployment.write('app', PROJECT);
  const file = join(deployment.folder, 'source.tar.gz');
  const codeOf = async () => (await deployment.failure({ source: { kind: 'tarball', file } })).code;
  expect(await codeOf()).toBe('tarball_missing');
  execFileSync('tar', ['-cf', file, '-C', folder, '.']);
  expect(await codeOf()).toBe('tarball_not_gzip');
  execFileSync('tar', ['-czf', file, '-C', folder, '.']);
  const built = await deployment.build({ source: { kind: 'tarball', file } });
  expect((await readdir(built.root)).sort()).toEqual(['agent.mjs', 'langgraph.json', 'package.json']);
  const { readFile } = await import('node:fs/promises');
  await writeFile(file, (await readFile(file)).subarray(0, 200));
  expect(await codeOf()).toBe('tarball_unreadable');
});

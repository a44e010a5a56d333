import { execFileSync } from 'node:child_process';
import { access, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { BuildRequest } from '../../../src/extensions/deployments/build/request.ts';
import { MB, PROJECT, TestDeployment } from '../../support/builds.ts';
import { describeFailures, type FailingBuild, git, withLimits } from '../../support/failing-builds.ts';
import { freePort } from '../../support/free-port.ts';
import { GitServer } from '../../support/git-server.ts';

/** What a program would leave that an option starts. */
const STARTED = join(tmpdir(), `started-by-an-option-${process.pid}`);

const SOURCES: FailingBuild[] = [
  { name: 'an invalid address', step: 'source', code: 'url_invalid', request: git('not a url') },
  {
    name: 'an option as an address',
    step: 'source',
    code: 'url_invalid',
    request: git(`--upload-pack=touch ${STARTED}`),
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

describeFailures(SOURCES);

function repository(ref: string): NonNullable<FailingBuild['request']> {
  return async (deployment) => git(`file://${await deployment.repository('repository', PROJECT)}`, ref);
}

test('missing and wrong credentials of a repository are distinguished', async () => {
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

test('options of git in URLs and refs start no program', async () => {
  await expect(access(STARTED)).rejects.toThrow('ENOENT');
});

test('a missing, uncompressed or damaged tarball is reported', async () => {
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
  await writeFile(file, (await readFile(file)).subarray(0, 200));
  expect(await codeOf()).toBe('tarball_unreadable');
});

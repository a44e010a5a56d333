import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { resolveRef } from '../../../src/extensions/deployments/build/source.ts';
import { commit, git, PROJECT, projectWithScript, TestDeployment } from '../../support/builds.ts';
import { GitServer } from '../../support/git-server.ts';
import { failure } from '../../support/naming.ts';

const TOKEN = 'token-that-nobody-may-see-42';
const source = (url: string, ref = 'main') => ({ kind: 'git' as const, url, ref });
const withToken = (url: string, token = TOKEN) => ({
  ...source(url),
  credentials: { kind: 'token' as const, username: 'ada', token },
});

/** Writes everything that a build can see of the environment, of processes and of files beside it. */
const SPY = `
import { execSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
const see = (command) => { try { return execSync(command, { encoding: 'utf8' }); } catch (error) { return error.stdout; } };
writeFileSync('seen.txt', JSON.stringify(process.env) + see('cat /proc/*/environ /proc/*/cmdline 2>/dev/null') + see('grep -r "" .git ../fetch ../home ../tmp 2>/dev/null'));
`;

test('a private repository is fetched with a token, which appears in no output', async () => {
  await using deployment = await TestDeployment.create();
  await deployment.repository('repositories/private', projectWithScript(SPY));
  await using server = await GitServer.start(join(deployment.folder, 'repositories'), {
    private: `ada:${TOKEN}`,
  });
  const request = deployment.request({ source: withToken(server.url('private')), ca_file: server.ca_file });
  const built = await deployment.build({ ...request, isolations: ['none'] });

  expect(server.authorizations).toContain(`Basic ${btoa(`ada:${TOKEN}`)}`);
  const seen = await readFile(join(built.root, 'seen.txt'), 'utf8');
  expect(seen).toContain('core.repositoryformatversion'.split('.')[1]);
  const everything = [seen, deployment.log, JSON.stringify([built, deployment.steps])].join('\n');
  expect(everything).not.toContain(TOKEN);
  expect(everything).not.toContain(btoa(`ada:${TOKEN}`));
  expect(() => execFileSync('grep', ['-rqF', TOKEN, request.folder, request.cache])).toThrow();
});

test('the token of a repository is in no argument and no variable of a running git', async () => {
  await using deployment = await TestDeployment.create();
  await deployment.repository('repositories/private', PROJECT);
  await using server = await GitServer.start(join(deployment.folder, 'repositories'), {
    private: `ada:${TOKEN}`,
  });
  let seen = '';
  server.intercept = () => {
    seen += execFileSync(
      'sh',
      ['-c', 'cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr "\\0" "\\n"; true'],
      {
        maxBuffer: 64 * 1024 * 1024,
      },
    ).toString();
    return false;
  };
  await deployment.build({ source: withToken(server.url('private')), ca_file: server.ca_file });
  expect(seen).toContain('git-remote-https');
  expect(seen).not.toContain(TOKEN);
});

test('the token of a repository is not sent to the host of a submodule', async () => {
  await using deployment = await TestDeployment.create();
  const inner = await deployment.repository('elsewhere/inner', { 'inner.txt': 'inside' });
  const outer = await deployment.repository('repositories/outer', PROJECT);
  await using server = await GitServer.start(join(deployment.folder, 'repositories'), {
    outer: `ada:${TOKEN}`,
  });
  await using other = await GitServer.start(join(deployment.folder, 'elsewhere'));
  await git(outer, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner, 'inner');
  await git(outer, 'config', '--file', '.gitmodules', 'submodule.inner.url', other.url('inner', '127.0.0.1'));
  await commit(outer, 'with a submodule');
  other.intercept = (request, response) => {
    if (request.headers.authorization) return false;
    response.writeHead(401, { 'www-authenticate': 'Basic realm="other"' }).end();
    return true;
  };
  const request = { source: withToken(server.url('outer')), allow_submodules: true };
  // Both authorities in one file.
  const { writeFile } = await import('node:fs/promises');
  const ca_file = join(deployment.folder, 'both.pem');
  await writeFile(
    ca_file,
    (await readFile(server.ca_file, 'utf8')) + (await readFile(other.ca_file, 'utf8')),
  );
  const failure = await deployment.failure({ ...request, ca_file });
  expect(failure.code).toBe('authentication_required');
  expect(other.authorizations).toEqual([]);

  other.intercept = () => false;
  const built = await deployment.build({ ...request, ca_file });
  expect(await readFile(join(built.root, 'inner/inner.txt'), 'utf8')).toBe('inside');
  const checked: string[] = [];
  await deployment.build({ ...request, ca_file, checkAddress: async (url) => void checked.push(url.href) });
  expect(checked).toContain(`https://127.0.0.1:${other.port}/`);

  await deployment.build({ ...request, ca_file, allow_submodules: false });
  expect(deployment.log).toMatch(/source WARNING .* inner .*submodule/);
});

test('redirects of a git repository are not followed', async () => {
  await using deployment = await TestDeployment.create();
  await deployment.repository('repositories/app', PROJECT);
  await using server = await GitServer.start(join(deployment.folder, 'repositories'));
  await using other = await GitServer.start(join(deployment.folder, 'repositories'));
  let asked = 0;
  other.intercept = () => {
    asked += 1;
    return false;
  };
  server.intercept = (request, response) => {
    response
      .writeHead(301, { location: `${other.url('app')}${(request.url ?? '').slice('/old'.length)}` })
      .end();
    return true;
  };
  const failure = await deployment.failure({ source: source(server.url('old')), ca_file: server.ca_file });
  expect(failure).toMatchObject({ step: 'source', code: 'repository_moved' });
  expect(asked).toBe(0);
});

test('the address policy applies to the host of a repository and to the address that git connects to', async () => {
  await using deployment = await TestDeployment.create();
  await deployment.repository('repositories/app', PROJECT);
  await using server = await GitServer.start(join(deployment.folder, 'repositories'));
  const asked: string[] = [];
  const allowed = { source: source(server.url('app', 'git.example')), ca_file: server.ca_file };
  await deployment.build({
    ...allowed,
    checkAddress: async (url) => {
      asked.push(url.href);
      // No DNS knows that name.
      return '127.0.0.1';
    },
  });
  expect(asked).toEqual([`https://git.example:${server.port}/`]);
  const failure = await deployment.failure({
    ...allowed,
    checkAddress: () => Promise.reject(new Error('private address.')),
  });
  expect(failure).toMatchObject({
    code: 'address_forbidden',
    message: expect.stringContaining('git.example'),
  });
});

test('a ref of a repository is resolved without fetching objects', async () => {
  await using deployment = await TestDeployment.create();
  const repository = await deployment.repository('repositories/app', PROJECT);
  await using server = await GitServer.start(join(deployment.folder, 'repositories'));
  const resolve = (ref: string) =>
    resolveRef({
      source: source(server.url('app'), ref),
      ca_file: server.ca_file,
      checkAddress: async () => {},
      env: process.env,
      signal: new AbortController().signal,
    });
  const sha = await git(repository, 'rev-parse', 'HEAD');
  expect(await resolve('main')).toMatchObject({ ref: 'refs/heads/main', sha });
  await git(repository, 'tag', 'main');
  const next = await commit(repository, 'next');
  // A branch is preferred to a tag of its name.
  expect(await resolve('main')).toMatchObject({ sha: next });
  expect(await resolve('refs/tags/main')).toMatchObject({ sha });
  await expect(resolve('mian')).rejects.toThrow(failure(Error, 'no mian', 'branch is main'));
});

import { execFileSync } from 'node:child_process';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createDeployKey } from '../../../src/extensions/deployments/build/source.ts';
import { PROJECT, TestDeployment } from '../../support/builds.ts';
import { hasSshServer, SshServer } from '../../support/ssh-server.ts';

test('a deploy key has the format of OpenSSH', async () => {
  await using deployment = await TestDeployment.create();
  const { private_key, public_key } = createDeployKey('for the tests');
  const file = join(deployment.folder, 'key');
  await writeFile(file, private_key, { mode: 0o600 });
  expect(execFileSync('ssh-keygen', ['-y', '-f', file], { encoding: 'utf8' }).trim()).toBe(public_key);
  expect(public_key).toMatch(/^ssh-ed25519 \S{68} for the tests$/);
  expect(createDeployKey().private_key).not.toBe(createDeployKey().private_key);
});

describe.skipIf(!hasSshServer)('a repository over ssh', () => {
  const key = createDeployKey();

  async function served() {
    const deployment = await TestDeployment.create();
    const repository = await deployment.repository('app', PROJECT);
    const server = await SshServer.start();
    const source = (known_hosts?: string, private_key = key.private_key) => ({
      kind: 'git' as const,
      url: server.url(repository),
      ref: 'main',
      credentials: { kind: 'deploy_key' as const, private_key, known_hosts },
    });
    const stack = new AsyncDisposableStack();
    stack.use(deployment);
    stack.use(server);
    return { deployment, server, source, [Symbol.asyncDispose]: () => stack.disposeAsync() };
  }

  test('is fetched with a deploy key, and its host key is pinned at the first use', async () => {
    await using setup = await served();
    const { deployment, server, source } = setup;
    await server.allow(key.public_key);
    const request = deployment.request({ source: source() });
    const { known_hosts, commit } = await deployment.build(request);
    expect(commit?.author).toBe('Ada <ada@example.com>');
    expect(known_hosts).toMatch(new RegExp(`^\\[127\\.0\\.0\\.1\\]:${server.port} ssh-ed25519 \\S+$`));
    expect((await readdir(request.folder)).sort()).toEqual(['build.json', 'source']);
    for (const line of key.private_key.split('\n').slice(1, 3)) {
      expect(() => execFileSync('grep', ['-rqF', line, deployment.folder])).toThrow();
    }
    const again = await deployment.build({ source: source(known_hosts) });
    expect(again.known_hosts).toBe(known_hosts);

    await server.newHostKey();
    await server.restart();
    const failure = await deployment.failure({ source: source(known_hosts) });
    expect(failure).toMatchObject({ step: 'source', code: 'host_key_changed' });
  });

  test('is fetched from the address that the policy allows, under the name of the host', async () => {
    await using setup = await served();
    const { deployment, server, source } = setup;
    await server.allow(key.public_key);
    const asked: string[] = [];
    const built = await deployment.build({
      source: { ...source(), url: source().url.replace('127.0.0.1', 'git.example') },
      checkAddress: async (url) => {
        asked.push(url.href);
        return '127.0.0.1';
      },
    });
    expect(asked).toEqual([`https://git.example:${server.port}/`]);
    expect(built.known_hosts).toContain('git.example');
  });

  test('is fetched into a folder with a space in its path', async () => {
    await using setup = await served();
    const { deployment, server, source } = setup;
    await server.allow(key.public_key);
    const folder = join(deployment.folder, "the server's revisions/1");
    const built = await deployment.build({ source: source(), folder });
    expect(built.known_hosts).toContain('ssh-ed25519');
  });

  test('fails without the right key, with what to do', async () => {
    await using setup = await served();
    const { deployment, server, source } = setup;
    const refused = await deployment.failure({ source: source() });
    expect(refused).toMatchObject({
      code: 'authentication_refused',
      hint: expect.stringContaining('public key'),
    });
    const unusable = await deployment.failure({ source: source(undefined, 'not a key') });
    expect(unusable.code).toBe('deploy_key_unusable');
    await server.allow(key.public_key);
    const missing = await deployment.failure({ source: { ...source(), url: server.url('/nowhere') } });
    expect(missing.code).toBe('repository_not_found');
  });
});

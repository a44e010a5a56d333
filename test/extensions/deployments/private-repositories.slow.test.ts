import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { commit, TestDeployment } from '../../support/builds.ts';
import { openDeploymentServer, projectThat } from '../../support/deployments.ts';
import { GitServer } from '../../support/git-server.ts';
import { naming } from '../../support/naming.ts';
import { PACKAGES } from '../../support/project.ts';
import { hasSshServer, SshServer } from '../../support/ssh-server.ts';
import { until } from '../../support/until.ts';

const TOKEN = 'token-that-nobody-may-see-42';
const install_command = `ln -s ${PACKAGES} node_modules`;

/** A server that builds with git, may connect to this machine, and encrypts what it stores. */
async function openServer() {
  const server = await openDeploymentServer({
    build: undefined,
    deployments: { poll_seconds: 2 },
    environment: {
      LANGGRAPH_WEBHOOKS: '{"url": {"disable_loopback": false, "allow_private": ["127.0.0.1"]}}',
      LANGGRAPH_AES_KEY: '0123456789abcdef',
    },
  });
  const revisions = async (id: string) =>
    (await server.get(`/v2/deployments/${id}/revisions?limit=100`)).body.resources;
  const create = async (name: string, repo_url: string, build_on_push = false): Promise<string> =>
    (
      await server.create(name, {
        source: 'github',
        source_config: { repo_url, install_command, build_on_push },
        source_revision_config: { repo_ref: 'main' },
      })
    ).id;
  const deploy = async (id: string) =>
    server.ended(id, (await server.post(`/v2/deployments/${id}/revisions`)).body.id);
  const ended = async (id: string) => server.ended(id, (await revisions(id))[0].id);

  /** Everything that the server says about a deployment, and all that it has logged. */
  async function everything(id: string): Promise<string> {
    const of = ['', '/hooks', '/deploy-key', '/repository-token', '/revisions'];
    const texts = await Promise.all(
      of.map(async (path) => (await server.get(`/v2/deployments/${id}${path}`)).text),
    );
    const logs = (await revisions(id)).map(({ id: rid }: { id: string }) =>
      server.post(`/v1/projects/${id}/revisions/${rid}/build_logs`, { limit: 1000 }),
    );
    const built = (await Promise.all(logs)).map(({ text }) => text);
    return [...texts, ...built, JSON.stringify(server.log)].join('\n');
  }
  const isOnDisk = (text: string): boolean => {
    try {
      execFileSync('grep', ['-rqF', '-e', text, server.folder]);
      return true;
    } catch {
      return false;
    }
  };
  return {
    ...{ server, revisions, create, deploy, ended, everything, isOnDisk },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

test('a private repository is deployed and polled with a token that is sent only to its host and appears nowhere else', async () => {
  await using sources = await TestDeployment.create();
  const repository = await sources.repository('repositories/private', projectThat('private'));
  await using git = await GitServer.start(join(sources.folder, 'repositories'), {
    private: `x-access-token:${TOKEN}`,
  });
  await using other = await GitServer.start(join(sources.folder, 'repositories'));
  vi.stubEnv('GIT_SSL_CAINFO', git.ca_file);
  onTestFinished(() => void vi.unstubAllEnvs());
  await using opened = await openServer();
  const { server, revisions, create, deploy, ended, everything, isOnDisk } = opened;
  const id = await create('private', git.url('private', '127.0.0.1'));
  expect(await ended(id)).toMatchObject({
    status: 'BUILD_FAILED',
    failure: { code: 'authentication_required', hint: naming('token', 'deploy key') },
  });

  const path = `/v2/deployments/${id}/repository-token`;
  expect((await server.get(path)).body).toMatchObject({ is_set: false, host: null });
  const wrong = await server.send('PUT', path, { token: 'a wrong one' });
  expect(wrong.status).toBe(422);
  const set = await server.send('PUT', path, { token: TOKEN });
  expect(set.body).toMatchObject({ is_set: true, host: `127.0.0.1:${git.port}`, username: null });
  expect((await server.get(path)).body).toEqual(set.body);

  let seen = '';
  git.intercept = () => {
    const read = 'cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr "\\0" "\\n"; true';
    seen += execFileSync('sh', ['-c', read], { maxBuffer: 64 * 1024 * 1024 }).toString();
    return false;
  };
  expect(await deploy(id)).toMatchObject({ failure: null, status: 'DEPLOYED' });
  expect((await server.run('private')).body).toMatchObject({ said: 'private' });

  await server.send('PATCH', `/v2/deployments/${id}`, { source_config: { build_on_push: true } });
  const next = await commit(repository, 'pushed');
  await until('polling has found it', async () => (await revisions(id))[0].trigger === 'poll');
  expect(await ended(id)).toMatchObject({ failure: null, status: 'DEPLOYED', commit: { sha: next } });
  git.intercept = () => false;
  expect(seen).toContain('ls-remote');
  const texts = [seen, await everything(id), git.url('private')];
  for (const text of texts) {
    expect(text).not.toContain(TOKEN);
    expect(text).not.toContain(btoa(`x-access-token:${TOKEN}`));
  }
  expect(isOnDisk(TOKEN)).toBe(false);

  // Who may change the URL does not learn the token.
  other.intercept = (request, response) => {
    if (request.headers.authorization) return false;
    response.writeHead(401, { 'www-authenticate': 'Basic realm="other"' }).end();
    return true;
  };
  vi.stubEnv('GIT_SSL_CAINFO', other.ca_file);
  const moved = {
    source_config: { repo_url: other.url('private', '127.0.0.1') },
    source_revision_config: {},
  };
  await server.send('PATCH', `/v2/deployments/${id}`, moved);
  expect(await ended(id)).toMatchObject({
    status: 'BUILD_FAILED',
    failure: { code: 'authentication_required' },
  });
  expect(other.authorizations).toEqual([]);
  expect(await everything(id)).toContain(`127.0.0.1:${git.port}, and is not sent to`);

  expect((await server.send('DELETE', path)).status).toBe(204);
  expect((await server.get(path)).body.is_set).toBe(false);
  const ssh = await create('ssh', 'git@127.0.0.1:me/agent.git');
  const refused = await server.send('PUT', `/v2/deployments/${ssh}/repository-token`, { token: TOKEN });
  expect(refused).toMatchObject({ status: 409, body: { detail: expect.stringContaining('https') } });
});

test.skipIf(!hasSshServer)(
  'a private repository is deployed with a deploy key; its host keys are pinned and shown',
  async () => {
    await using sources = await TestDeployment.create();
    const repository = await sources.repository('app', projectThat('by key'));
    await using ssh = await SshServer.start();
    await using opened = await openServer();
    const { server, revisions, create, deploy, ended, everything, isOnDisk } = opened;
    const id = await create('by-key', ssh.url(repository), true);
    expect((await ended(id)).failure).toMatchObject({ step: 'source', code: 'authentication_refused' });

    const path = `/v2/deployments/${id}/deploy-key`;
    expect((await server.get(path)).body).toEqual({ public_key: null, created_at: null, host_keys: [] });
    const { body: key } = await server.post(path);
    expect(key.public_key).toMatch(/^ssh-ed25519 \S{68} agent-server by-key$/);
    await ssh.allow(key.public_key);
    expect(await deploy(id)).toMatchObject({ failure: null, status: 'DEPLOYED' });
    expect((await server.run('by-key')).body).toMatchObject({ said: 'by key' });
    const { host_keys } = (await server.get(path)).body;
    expect(host_keys).toEqual([expect.stringMatching(/127\.0\.0\.1\S* ssh-ed25519 \S+$/)]);

    const next = await commit(repository, 'pushed');
    await until('polling has found it', async () => (await revisions(id))[0].trigger === 'poll');
    expect(await ended(id)).toMatchObject({ failure: null, status: 'DEPLOYED', commit: { sha: next } });
    expect(await everything(id)).not.toContain('PRIVATE KEY');
    // It is in a file only while git runs.
    const follow = (build_on_push: boolean) =>
      server.send('PATCH', `/v2/deployments/${id}`, { source_config: { build_on_push } });
    await follow(false);
    await until('no file has the key', () => !isOnDisk('OPENSSH PRIVATE KEY'));
    await follow(true);

    await ssh.newHostKey();
    await ssh.restart();
    expect(await deploy(id)).toMatchObject({ status: 'BUILD_FAILED', failure: { code: 'host_key_changed' } });
    expect((await server.get(path)).body.host_keys).toEqual(host_keys);
    await until('polling has noted it', async () => {
      const { poll } = (await server.get(`/v2/deployments/${id}/hooks`)).body;
      return poll.failure?.code === 'host_key_changed';
    });
    expect((await server.send('DELETE', `/v2/deployments/${id}/host-keys`)).status).toBe(204);
    expect(await deploy(id)).toMatchObject({ failure: null, status: 'DEPLOYED' });
    const pinned = (await server.get(path)).body.host_keys;
    expect(pinned).toHaveLength(1);
    expect(pinned).not.toEqual(host_keys);

    // Another key is one that the host does not know; the pins stay.
    const { body: second } = await server.post(path);
    expect([second.public_key === key.public_key, second.host_keys]).toEqual([false, pinned]);
    expect(await deploy(id)).toMatchObject({ failure: { code: 'authentication_refused' } });
    expect((await server.send('DELETE', path)).status).toBe(204);
    expect((await server.get(path)).body).toEqual({ public_key: null, created_at: null, host_keys: pinned });
  },
);

test('a deploy key that a killed server left on disk is removed at the next start', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'agent-server-left-'));
  const left = join(folder, '.agent-server/deployments/git/agent-server-git-1');
  try {
    await mkdir(left, { recursive: true });
    await writeFile(join(left, 'deploy_key'), 'a private key');
    await using server = await openDeploymentServer({ folder });
    expect((await server.get('/v2/deployments')).status).toBe(200);
    expect(await readdir(join(left, '..'))).toEqual([]);
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  }
});

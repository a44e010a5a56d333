import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openApp } from '../../support/app.ts';
import { KEY, openDeploymentServer, projectThat, tarball } from '../../support/deployments.ts';
import { naming } from '../../support/naming.ts';
import { until } from '../../support/until.ts';

const NOBODY = '7d9f2c1e-4b6a-4f0e-9c3d-2a8b5e6f1d00';

test('without deployments.enabled the routes do not exist', async () => {
  await using server = await openApp({ graphs: ['echo'] });
  for (const url of ['/v2/deployments', `/v2/deployments/${NOBODY}`])
    expect((await server.get(url)).status).toBe(404);
  const { paths } = (await server.get('/openapi.json')).body;
  expect(Object.keys(paths).filter((path) => path.includes('deployments'))).toEqual([]);
});

describe('the control plane', () => {
  let server: Awaited<ReturnType<typeof openDeploymentServer>>;
  beforeAll(async () => {
    server = await openDeploymentServer({
      // Nothing in these tests is built.
      async build({ signal, onStep }) {
        onStep('install');
        signal.throwIfAborted();
        return new Promise((_, reject) =>
          signal.addEventListener('abort', () => reject(signal.reason), { once: true }),
        );
      },
    });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  test('requires names of deployments that are unique and fit into a URL', async () => {
    await server.create('one-name');
    const again = await server.post('/v2/deployments', { name: 'one-name', source: 'internal_source' });
    expect(again).toMatchObject({ status: 409, body: { detail: expect.stringContaining('one-name') } });
    for (const name of ['', 'Upper', 'a/b', '../up', '-x', 'x'.repeat(64)]) {
      const refused = await server.post('/v2/deployments', { name, source: 'internal_source' });
      expect([name, refused.status]).toEqual([name, 422]);
    }
  });

  test('refuses images, credentials in URLs, local repositories and invalid refs, and names the field', async () => {
    const refuse = async (more: object) => {
      const { status, body } = await server.post('/v2/deployments', {
        name: 'refused',
        source: 'github',
        ...more,
      });
      return [status, body.detail];
    };
    const git = (repo_url: string, revision: object = {}) =>
      refuse({ source_config: { repo_url }, source_revision_config: revision });
    expect(await refuse({ source: 'external_docker' })).toEqual([422, naming('images')]);
    expect(await refuse({})).toEqual([422, expect.stringContaining('repo_url: is required')]);
    expect(await git('https://me:secret@example.com/a.git')).toEqual([
      422,
      expect.stringContaining('credentials'),
    ]);
    expect(await git('file:///srv/a.git')).toEqual([422, expect.stringContaining('allow_local_sources')]);
    expect(await git('--upload-pack=x')).toEqual([422, expect.stringContaining('repo_url')]);
    expect(await git('ext::sh -c x')).toEqual([422, expect.stringContaining('repo_url')]);
    const url = 'https://example.com/a.git';
    expect(await git(url, { repo_ref: '--output=x' })).toEqual([422, expect.stringContaining('repo_ref')]);
    expect(await git(url, { langgraph_config_path: '../../etc/passwd' })).toEqual([
      422,
      expect.stringContaining('langgraph_config_path'),
    ]);
    const detail = (await git('https://me:secret@example.com/a.git'))[1];
    expect(detail).not.toContain('secret@');
  });

  test('refuses reserved names of secrets with the list, and never shows values', async () => {
    const reserved = await server.post('/v2/deployments', {
      name: 'reserved',
      source: 'internal_source',
      secrets: [
        { name: 'PORT', value: '1' },
        { name: 'DATABASE_URI', value: 'x' },
        { name: 'FINE', value: 'y' },
      ],
    });
    expect(reserved.status).toBe(422);
    expect(reserved.body.detail).toMatch(/PORT, DATABASE_URI cannot be set.*LANGGRAPH_AES_KEY.*POSTGRES_URI/);
    const { id } = await server.create('with-secrets', {
      secrets: [{ name: 'TOKEN', value: 'very-secret-value' }],
    });
    const all = await server.get(`/v2/deployments/${id}`);
    expect(all.body.secrets).toEqual([{ name: 'TOKEN', value: '********' }]);
    expect(all.text).not.toContain('very-secret-value');
    const patched = await server.send('PATCH', `/v2/deployments/${id}`, {
      secrets: [{ name: 'NEW', value: '********' }],
    });
    expect(patched).toMatchObject({
      status: 422,
      body: { detail: naming('NEW') },
    });
  });

  test('lists deployments with filters and pages', async () => {
    for (const name of ['list-a', 'list-b', 'list-c']) await server.create(name);
    const { body } = await server.get('/v2/deployments?name_contains=list-&limit=2');
    expect(body.resources.map(({ name }: { name: string }) => name)).toEqual(['list-c', 'list-b']);
    const rest = await server.get(`/v2/deployments?name_contains=list-&limit=2&offset=${body.offset}`);
    expect(rest.body.resources.map(({ name }: { name: string }) => name)).toEqual(['list-a']);
    const exact = await server.get('/v2/deployments?name=list-a&name_contains=list-a&limit=100&offset=0');
    expect(exact.body.resources).toHaveLength(1);
    expect((await server.get('/v2/deployments?name_contains=%25')).body.resources).toEqual([]);
    expect((await server.get('/v2/deployments?limit=101')).status).toBe(422);
  });

  test('accepts one upload at an upload URL without a key, and none after that', async () => {
    const { id } = await server.create('uploads');
    const { body } = await server.post(`/v2/deployments/${id}/upload-url`, undefined);
    expect(body.object_path).toMatch(new RegExp(`^uploads/${id}/`));
    const put = async (url: string, type = 'application/gzip') =>
      (
        await fetch(url, {
          method: 'PUT',
          headers: { 'content-type': type },
          body: new Uint8Array(await tarball(projectThat('x'))),
        })
      ).status;
    expect(await put(body.upload_url.replace('signature=', 'signature=x'))).toBe(403);
    expect(await put(body.upload_url.replace(/expires=\d+/, 'expires=9999999999'))).toBe(403);
    expect(await put(body.upload_url, 'application/json')).toBe(415);
    expect(await put(body.upload_url)).toBe(200);
    expect(await put(body.upload_url)).toBe(409);
    const other = await server.create('not-its-upload');
    const stolen = await server.send('PATCH', `/v2/deployments/${other.id}`, {
      source_revision_config: { source_tarball_path: body.object_path },
    });
    expect(stolen).toMatchObject({
      status: 422,
      body: { detail: expect.stringContaining('nothing was uploaded') },
    });
  });

  test('skips waiting revisions when a newer one comes, and ends an interrupted revision', async () => {
    const { id } = await server.create('queue');
    const first = await server.push(id, projectThat('one'));
    const second = await server.push(id, projectThat('two'));
    const third = await server.push(id, projectThat('three'));
    const { body } = await server.get(`/v2/deployments/${id}/revisions?limit=2`);
    expect(body.resources.map((each: { id: string }) => each.id)).toEqual([third.id, second.id]);
    expect((await server.revision(id, second.id)).status).toBe('SKIPPED');
    // The first is built, or skipped too if the queue was busy.
    for (const { id: rid } of [third, first]) {
      const interrupted = await server.post(`/v2/deployments/${id}/revisions/${rid}/interrupt`);
      expect([200, 409]).toContain(interrupted.status);
    }
    expect((await server.revision(id, third.id)).status).toBe('INTERRUPTED');
    const late = await server.post(`/v2/deployments/${id}/revisions/${third.id}/interrupt`);
    expect(late).toMatchObject({ status: 409, body: { detail: expect.stringContaining('INTERRUPTED') } });
    const skipped = await server.get(`/v2/deployments/${id}/revisions?status=SKIPPED,INTERRUPTED`);
    expect(skipped.body.resources.length).toBeGreaterThanOrEqual(2);
  });

  test('does not deploy a revision again whose sources are no longer stored', async () => {
    const { id } = await server.create('cleaned-up');
    const { id: revision_id } = await server.push(id, projectThat('one'));
    await server.post(`/v2/deployments/${id}/revisions/${revision_id}/interrupt`);
    await rm(join(server.folder, '.agent-server/deployments/uploads', id), { recursive: true });
    const again = await server.post(`/v2/deployments/${id}/revisions/${revision_id}/redeploy`);
    expect(again).toMatchObject({ status: 409, body: { detail: naming('sources') } });
  });

  test('reports the deployments that a bulk deletion could not delete', async () => {
    const { id } = await server.create('short-lived');
    const partly = await server.send('DELETE', `/v2/deployments?deployment_ids=${id},${NOBODY}`);
    expect(partly).toMatchObject({ status: 207, body: { deleted: [id], failed: [{ id: NOBODY }] } });
    expect((await server.get(`/v2/deployments/${id}`)).status).toBe(404);
    const token = await server.post(`/v2/deployments/${(await server.create('no-images')).id}/push-token`);
    expect(token).toMatchObject({
      status: 400,
      body: { detail: naming('Images') },
    });
  });

  test('leaves nothing behind of a deployment that is deleted while it is built', async () => {
    const { id } = await server.create('gone');
    const { id: rid } = await server.push(id, projectThat('gone'));
    await until('it is built', async () => (await server.revision(id, rid)).status === 'BUILDING');
    const home = join(server.folder, '.agent-server/deployments/apps/gone');
    await until('its log begins', () => existsSync(home));
    expect((await server.send('DELETE', `/v2/deployments/${id}`)).status).toBe(204);
    expect((await server.get(`/v2/deployments/${id}`)).status).toBe(404);
    await until('its files are gone', () => !existsSync(home));
    expect((await server.get('/deployments/gone/ok')).status).toBe(404);
  });

  test('requires a key of the right scope for every request', async () => {
    const run = (await server.post('/keys', { name: 'a run key', scope: 'run' })).body.key;
    const deploys = (await server.post('/keys', { name: 'ci', scope: 'deployments:write' })).body.key;
    const status = async (key: string, path: string) =>
      (await fetch(server.url + path, { headers: { 'x-api-key': key } })).status;
    expect(await status('', '/v2/deployments')).toBe(401);
    expect(await status(run, '/v2/deployments')).toBe(403);
    expect(await status(deploys, '/v2/deployments')).toBe(200);
    expect(await status(deploys, '/threads/count')).not.toBe(200);
    expect(await status(KEY, '/v2/deployments')).toBe(200);
  });
});

import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HOOK_KINDS, type HookKind } from '../../../src/extensions/deployments/schemas/hooks.ts';
import { openDeploymentServer } from '../../support/deployments.ts';
import { hookOf, sendHook } from '../../support/git-hooks.ts';
import { naming } from '../../support/naming.ts';

const NOBODY = '7d9f2c1e-4b6a-4f0e-9c3d-2a8b5e6f1d00';

describe('the secret of hooks', () => {
  let server: Awaited<ReturnType<typeof openDeploymentServer>>;
  beforeAll(async () => {
    server = await openDeploymentServer({ environment: { LANGGRAPH_AES_KEY: '0123456789abcdef' } });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const create = (name: string) =>
    server.create(name, {
      source: 'github',
      source_config: { repo_url: 'https://example.com/a.git', build_on_push: true },
      source_revision_config: { repo_ref: 'main' },
    });
  const createSecret = async (id: string) => (await server.post(`/v2/deployments/${id}/hook-secret`)).body;
  const urlOf = (id: string, kind: HookKind) => `${server.url}/v2/deployments/${id}/hooks/${kind}`;

  test.each(HOOK_KINDS)(
    'rejects a hook of %s with a wrong secret like one for an unknown deployment',
    async (kind) => {
      const { id } = await create(`refused-${kind}`);
      const wrong = hookOf(kind, 'a wrong secret', { delivery: 'one' });
      const withoutSecret = await sendHook(urlOf(id, kind), wrong);
      const { secret } = await createSecret(id);
      const withWrongSecret = await sendHook(urlOf(id, kind), wrong);
      const ofNobody = await sendHook(urlOf(NOBODY, kind), wrong);
      expect(withWrongSecret.status).toBe(401);
      expect(withWrongSecret.body.detail).toEqual(naming('secret'));
      expect([withoutSecret, ofNobody]).toEqual([withWrongSecret, withWrongSecret]);

      const unsigned = { body: '{}', headers: {} as never };
      const refused = await sendHook(urlOf(id, kind), unsigned);
      expect(refused).toMatchObject({ status: 401, body: { detail: expect.stringContaining('is missing') } });
      expect(await sendHook(urlOf(NOBODY, kind), unsigned)).toEqual(refused);
      const changed = hookOf(kind, secret);
      if (kind !== 'gitlab' && kind !== 'generic') {
        const tampered = { ...changed, body: `${changed.body} ` };
        expect((await sendHook(urlOf(id, kind), tampered)).status).toBe(401);
      }
      expect((await server.get(`/v2/deployments/${id}/hooks`)).body.resources).toEqual([]);
      expect((await server.get(`/v2/deployments/${id}/revisions`)).body.resources).toHaveLength(1);
    },
  );

  test('is replaced by the next secret, and shown only when it is created', async () => {
    const { id } = await create('rotated');
    expect((await server.get(`/v2/deployments/${id}/hooks`)).body.secret_created_at).toBeNull();
    const first = await createSecret(id);
    const second = await createSecret(id);
    const status = async (secret: string) =>
      (await sendHook(urlOf(id, 'github'), hookOf('github', secret))).status;
    expect([await status(first.secret), await status(second.secret)]).toEqual([401, 202]);
    const hooks = await server.get(`/v2/deployments/${id}/hooks`);
    expect(hooks.body).toMatchObject({ secret_created_at: second.created_at, urls: second.urls });
    const shown = [hooks.text, (await server.get(`/v2/deployments/${id}`)).text, JSON.stringify(server.log)];
    for (const text of shown) expect(text).not.toContain(second.secret);
    // It is encrypted in the database.
    expect(() => execFileSync('grep', ['-rqF', '-e', second.secret, server.folder])).toThrow();
  });

  test('is available only to callers who may deploy', async () => {
    const { id } = await create('for-deployers');
    const run = (await server.post('/keys', { name: 'a run key', scope: 'run' })).body.key;
    const path = `/v2/deployments/${id}/hook-secret`;
    expect((await server.send('POST', path, undefined, { 'x-api-key': run })).status).toBe(403);
    expect((await server.send('POST', path, undefined, { 'x-api-key': '' })).status).toBe(401);
    expect((await server.post(`/v2/deployments/${NOBODY}/hook-secret`)).status).toBe(404);
  });

  test('does not admit a body that is too large, and one with unusable content is ignored', async () => {
    const { id } = await create('bodies');
    const { secret } = await createSecret(id);
    const large = { body: 'x'.repeat(server.config.server.body_limit + 1), headers: {} as never };
    const answer = await sendHook(urlOf(id, 'github'), large);
    expect(answer).toMatchObject({
      status: 413,
      body: { detail: expect.stringContaining('server.body_limit') },
    });
    const odd = async (body: string) =>
      (
        await sendHook(urlOf(id, 'generic'), {
          body,
          headers: { 'x-deploy-token': secret } as never,
        })
      ).body;
    expect(await odd('not json')).toMatchObject({
      outcome: 'ignored',
      reason: naming('JSON object'),
    });
    expect(await odd('{"ref": "a\\u0000b\\ud800"}')).toMatchObject({ outcome: 'ignored' });
    expect(await odd('[]')).toMatchObject({ outcome: 'ignored' });
    expect((await server.get(`/v2/deployments/${id}/hooks`)).body.resources).toHaveLength(3);
  });

  test('leaves no rows of a hook that arrives while its deployment is deleted', async () => {
    for (let round = 0; round < 5; round++) {
      const { id } = await create(`deleted-${round}`);
      const { secret } = await createSecret(id);
      const [deletion, ...hooks] = await Promise.all([
        server.send('DELETE', `/v2/deployments/${id}`),
        ...Array.from({ length: 5 }, (_, at) =>
          sendHook(urlOf(id, 'github'), hookOf('github', secret, { sha: `${at}`.repeat(40) })),
        ),
      ]);
      expect(deletion.status).toBe(204);
      for (const { status } of hooks) expect([202, 401]).toContain(status);
      expect((await sendHook(urlOf(id, 'github'), hookOf('github', secret))).status).toBe(401);
      expect((await server.get(`/v2/deployments/${id}/hooks`)).status).toBe(404);
    }
    const errors = server.log.filter(({ level }) => level === 'error');
    expect(errors).toEqual([]);
  });
});

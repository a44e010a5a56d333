import { expect, test } from 'vitest';
import type { SCOPES } from '../../src/auth/scopes.ts';
import { openApp } from '../support/app.ts';
import { declaredRoutes } from '../support/declared-routes.ts';
import { keyFile } from '../support/keys.ts';
import { OPERATIONS_BY_SCOPE, requiredScope } from '../support/operation-scopes.ts';
import { addressOf, operationsOf } from '../support/operations.ts';

const ID = '7d9f2c1e-4b6a-4f0e-9c3d-2a8b5e6f1d00';
const IDS = {
  thread_id: ID,
  run_id: ID,
  cron_id: ID,
  delivery_id: ID,
  checkpoint_id: ID,
  assistant_id: 'echo',
  model: 'echo',
};
const OPENAI = '{"openai":{"enabled":true}}';

/** What is disabled by default. */
const EVERYTHING = {
  LANGGRAPH_HTTP: OPENAI,
  AGENT_SERVER_DEPLOYMENTS: 'true',
  AGENT_SERVER_API_KEYS: 'operator',
};
const WITH_EVERYTHING = { graphs: ['echo'], environment: EVERYTHING };

test('the routes of the OpenAPI document declare the scopes of the table', async () => {
  const routes = await declaredRoutes(() => openApp(WITH_EVERYTHING));
  const declared = routes.flatMap(({ schema, config, method }) =>
    schema?.operationId === undefined || method === 'HEAD'
      ? []
      : [[schema.operationId, config?.open === true ? 'open' : config?.scope]],
  );
  const expected = Object.entries(OPERATIONS_BY_SCOPE).flatMap(([scope, ids]) =>
    ids.map((id) => [id, scope]),
  );
  expect(Object.fromEntries(declared)).toStrictEqual(Object.fromEntries(expected));
});

test('each operation of the OpenAPI document is in the table of scopes', async () => {
  await using server = await openApp(WITH_EVERYTHING);
  const operations = operationsOf((await server.get('/openapi.json')).body);
  expect(operations.length).toBeGreaterThan(70);
  const documented = operations.map(({ id, open }) => [id, open]);
  expect(documented.sort()).toEqual(
    Object.entries(OPERATIONS_BY_SCOPE)
      .flatMap(([scope, ids]) => ids.map((id) => [id, scope === 'open']))
      .sort(),
  );
});

test('every route declares a scope or is open, even one that is not in the OpenAPI document', async () => {
  const routes = await declaredRoutes(() => openApp(WITH_EVERYTHING));
  expect(routes.length).toBeGreaterThan(100);
  // `*` answers preflight requests, which carry no key.
  const undeclared = routes.filter(({ url, config }) => url !== '*' && !config?.open && !config?.scope);
  expect(undeclared.map(({ method, url }) => `${method} ${url}`)).toEqual([]);
});

test('no operation succeeds without a key of its scope', async () => {
  await using file = await keyFile();
  const environment = { ...file.environment, ...EVERYTHING };
  await using server = await openApp({ graphs: ['echo'], environment });
  const revoked = await file.make();
  await file.revoke(revoked.key_id);
  const expired = await file.make({ expires_at: '2020-01-01T00:00:00.000Z' });
  const weaker = {
    run: (await file.make({ scope: 'read' })).key,
    admin: (await file.make({ scope: 'run' })).key,
    'deployments:write': (await file.make({ scope: 'run' })).key,
  };
  const refusals: [string, string | undefined, number][] = [
    ['none', undefined, 401],
    ['wrong', 'ask_wrong', 401],
    ['revoked', revoked.key, 401],
    ['expired', expired.key, 401],
  ];
  let calls = 0;

  for (const operation of operationsOf((await server.get('/openapi.json')).body)) {
    if (operation.open) continue;
    const url = addressOf(operation, IDS);
    const scope = requiredScope(operation.id);
    const tooWeak =
      scope === 'open' || scope === 'read'
        ? []
        : [['too weak', weaker[scope], 403] as (typeof refusals)[number]];
    for (const [what, key, status] of [...refusals, ...tooWeak]) {
      const headers: Record<string, string> = key === undefined ? {} : { 'x-api-key': key };
      const answer = await server.send(operation.method, url, operation.body, headers);
      const [said, ...more] = Object.keys(answer.body ?? {});
      const told = [operation.id, what, answer.status, said === 'detail' || said === 'error', more];
      expect(told).toEqual([operation.id, what, status, true, []]);
      calls += 1;
    }
  }
  expect(calls).toBeGreaterThan(300);
});

test('a key of each scope can call the operations of that scope', async () => {
  await using file = await keyFile();
  const environment = { ...file.environment, AGENT_SERVER_DEPLOYMENTS: 'true' };
  await using server = await openApp({ graphs: ['echo'], environment });
  const status = async (
    scope: (typeof SCOPES)[number],
    method: 'GET' | 'POST',
    url: string,
    body?: object,
  ) => {
    const { key } = await file.make({ scope });
    return (await server.send(method, url, body, { 'x-api-key': key })).status;
  };
  expect(await status('read', 'POST', '/threads/search', {})).toBe(200);
  expect(await status('read', 'GET', '/nope')).toBe(404);
  expect(await status('run', 'POST', '/threads', {})).toBe(200);
  expect(await status('run', 'GET', '/assistants/echo')).toBe(200);
  expect(await status('admin', 'POST', '/assistants', { graph_id: 'echo' })).toBe(200);
  expect(await status('deployments:write', 'GET', '/v2/deployments')).toBe(200);
  expect(await status('deployments:write', 'GET', '/assistants/echo')).toBe(403);
  expect(await status('admin', 'GET', '/v2/deployments')).toBe(200);
});

import { expect, test } from 'vitest';
import { load, problemsOf } from '../support/config.ts';

const GRAPHS = 'graphs: { echo: "./echo.ts:graph" }\n';
const open = (source: string) =>
  `${source}: server.host: other machines could reach this address without authentication. Set ` +
  'AGENT_SERVER_API_KEYS (or server.api_keys), or serve this machine only with --host 127.0.0.1';

test.each(['0.0.0.0', '::', '192.168.1.7', 'example.org', '128.0.0.1', '127.0.0.1.example.org'])(
  'without a key, %s is refused',
  async (host) => {
    expect(await problemsOf(`${GRAPHS}server: { host: "${host}" }`)).toEqual([open('agent.config.yaml')]);
    expect(await problemsOf(GRAPHS, { flags: { 'server.host': host } })).toEqual([open('--host')]);
  },
);

test.each(['127.0.0.1', '127.8.8.8', 'localhost', '::1', '[::1]'])(
  'without a key, %s is served',
  async (host) => {
    expect((await load(`${GRAPHS}server: { host: "${host}" }`)).config.server.host).toBe(host);
  },
);

test('a server with a key may listen on every address', async () => {
  const { config } = await load(`${GRAPHS}server: { host: 0.0.0.0 }`, {
    environment: { AGENT_SERVER_API_KEYS: 'one, two' },
  });

  expect(config.server.api_keys).toEqual(['one', 'two']);
});

test('an empty list of keys counts as a server without keys', async () => {
  const yaml = `${GRAPHS}server: { host: 0.0.0.0, api_keys: "\${KEYS:-}" }`;

  expect(await problemsOf(yaml)).toEqual([open('agent.config.yaml')]);
});

test.each(['path: "./auth.ts:auth"', 'jwt: { secret: shared }', 'required: true'])(
  'with auth of %s every address is served',
  async (auth) => {
    expect(await problemsOf(`${GRAPHS}auth: { ${auth} }\nserver: { host: 0.0.0.0 }`)).toEqual([]);
  },
);

test.each([
  ['jwt: {}', 'auth.jwt: requires either jwks_url or secret'],
  ['jwt: { secret: a, jwks_url: "https://a.example/keys" }', 'auth.jwt: requires either jwks_url or secret'],
  ['jwt: { jwks_url: "keys" }', 'auth.jwt.jwks_url: must be an http or https URL'],
  ['{ path: "./auth.ts:auth", jwt: { secret: a } }', 'auth: has both path and jwt: choose one of them'],
  ['path: "./auth.ts"', 'auth.path: must be path:export, such as ./auth.ts:auth'],
  ['cache: { cache_keys: [] }', 'auth.cache.cache_keys: must name at least one header'],
])('auth of %s is refused', async (auth, problem) => {
  const block = auth.startsWith('{') ? auth : `{ ${auth} }`;
  expect(await problemsOf(`${GRAPHS}auth: ${block}`)).toEqual([`agent.config.yaml: ${problem}`]);
});

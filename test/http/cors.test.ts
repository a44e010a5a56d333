import { expect, test } from 'vitest';
import { bareServer } from '../support/bare-server.ts';

const ORIGIN = { origin: 'https://a.example' };
const PREFLIGHT = {
  method: 'OPTIONS',
  url: '/threads',
  headers: {
    ...ORIGIN,
    'access-control-request-method': 'PATCH',
    'access-control-request-headers': 'x-api-key,content-type',
    'access-control-request-private-network': 'true',
  },
} as const;

function cors(changes: object) {
  return {
    options: {
      cors: {
        allow_origins: [],
        allow_methods: ['*'],
        allow_headers: ['*'],
        allow_credentials: false,
        expose_headers: [],
        max_age: 600,
        ...changes,
      },
    },
  };
}

test('by default pages of any origin may call the server, without credentials', async () => {
  await using http = await bareServer();
  const { statusCode, headers } = await http.inject(PREFLIGHT);
  expect(statusCode).toBe(200);
  expect(headers).toMatchObject({
    'access-control-allow-origin': '*',
    'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
    'access-control-allow-headers': 'x-api-key,content-type',
    'access-control-allow-private-network': 'true',
    'access-control-max-age': '600',
  });
  expect(headers).not.toHaveProperty('access-control-allow-credentials');
});

test('a page can read the location and pagination headers', async () => {
  await using http = await bareServer();
  const { headers } = await http.inject({ url: '/ok', headers: ORIGIN });
  expect(headers['access-control-expose-headers']).toBe(
    'content-location, location, x-pagination-total, x-pagination-next, idempotency-replayed, retry-after',
  );
});

test('pages of origins that are not configured may not call the server', async () => {
  await using http = await bareServer(
    cors({ allow_origins: ['https://a.example'], allow_origin_regex: 'https://.*\\.b\\.example' }),
  );
  const allowed = async (origin: string) =>
    (await http.inject({ url: '/ok', headers: { origin } })).headers['access-control-allow-origin'];
  expect(await allowed('https://a.example')).toBe('https://a.example');
  expect(await allowed('https://x.b.example')).toBe('https://x.b.example');
  expect(await allowed('https://x.b.example.evil')).toBeUndefined();
  expect(await allowed('https://c.example')).toBeUndefined();
});

test('CORS allows credentials, methods and headers as configured', async () => {
  await using http = await bareServer(
    cors({
      allow_origins: ['https://a.example'],
      allow_methods: ['GET'],
      allow_headers: ['x-api-key'],
      allow_credentials: true,
    }),
  );
  const { headers } = await http.inject(PREFLIGHT);
  expect(headers).toMatchObject({
    'access-control-allow-methods': 'GET',
    'access-control-allow-headers': 'x-api-key',
    'access-control-allow-credentials': 'true',
  });
  expect(headers).not.toHaveProperty('access-control-expose-headers');
});

test.each([
  ['all origins', { allow_origins: ['*'] }],
  ['all origins, and some by name', { allow_origins: ['https://a.example', '*'] }],
  ['an expression for all origins', { allow_origin_regex: '.*' }],
  ['an expression for all origins of a scheme', { allow_origin_regex: 'http://.+' }],
  ['no origins named', { allow_origins: undefined }],
])('CORS with %s does not allow credentials', async (_what, origins) => {
  await using http = await bareServer(
    cors({ allow_origins: undefined, ...origins, allow_credentials: true }),
  );
  for (const origin of ['https://a.example', 'https://evil.example', 'http://evil.example', 'null']) {
    for (const request of [PREFLIGHT, { method: 'GET', url: '/ok' } as const]) {
      const { headers } = await http.inject({ ...request, headers: { ...PREFLIGHT.headers, origin } });
      expect(headers).not.toHaveProperty('access-control-allow-credentials');
    }
  }
  expect(http.log.map(({ message }) => message)).toContainEqual(
    expect.stringContaining('http.cors.allow_credentials has no effect'),
  );
});

test.each(['https://a.example|https://b.example', 'https://a\\.example'])(
  'the origin expression %s must match the whole origin',
  async (allow_origin_regex) => {
    const options = cors({ allow_origins: undefined, allow_origin_regex, allow_credentials: true });
    await using http = await bareServer(options);
    const granted = async (origin: string) => {
      const { headers } = await http.inject({ url: '/ok', headers: { origin } });
      return [headers['access-control-allow-origin'], headers['access-control-allow-credentials']];
    };
    expect(await granted('https://a.example')).toEqual(['https://a.example', 'true']);
    for (const origin of ['https://a.example.evil.example', 'https://evil.example?https://a.example']) {
      expect((await granted(origin))[0]).toBeUndefined();
    }
  },
);

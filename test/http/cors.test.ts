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

test('a page from anywhere may call, without credentials', async () => {
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

test('a page can read where a run is and whether rows follow', async () => {
  await using http = await bareServer();
  const { headers } = await http.inject({ url: '/ok', headers: ORIGIN });
  expect(headers['access-control-expose-headers']).toBe(
    'content-location, location, x-pagination-total, x-pagination-next, idempotency-replayed, retry-after',
  );
});

test('only named origins, when some are named', async () => {
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

test('credentials, methods and headers as they are configured', async () => {
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

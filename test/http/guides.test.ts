import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';

const DOCS = resolve(import.meta.dirname, '../../docs');
const PAGES = readdirSync(DOCS, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'));

let server: Awaited<ReturnType<typeof openApp>>;

beforeAll(async () => {
  server = await openApp({ graphs: ['echo'], environment: { AGENT_SERVER_API_KEYS: 'a-key' } });
});

afterAll(() => server[Symbol.asyncDispose]());

const get = (url: string) => server.app.server.inject({ url, remoteAddress: '127.0.0.1' });

test.each(PAGES)('docs/%s is served without a key, with links to the other served pages', async (name) => {
  const { statusCode, headers, body } = await get(`/docs/guides/${name}`);

  expect([statusCode, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
  expect(headers['content-security-policy']).toMatch(/^default-src 'none'/);
  // A marker of an alert, which only GitHub knows.
  expect(body).not.toContain('[!');
  const links = [...body.matchAll(/<(?:a href|img src)="(?!https?:|#|\/)([^"#]+)(?:#([^"]+))?"/g)];
  for (const [, link = '', anchor] of links) {
    const target = await get(new URL(link, `http://localhost/docs/guides/${name}`).pathname);
    expect([link, target.statusCode]).toEqual([link, 200]);
    if (anchor !== undefined) expect(target.body).toContain(` id="${anchor}"`);
  }
});

test.each(['..%2f..%2fpackage.json', 'nosuch.md', '.env', 'images', 'internals'])(
  'the route of guides serves no other file: %s',
  async (path) => {
    expect((await get(`/docs/guides/${path}`)).statusCode).toBe(404);
  },
);

test('the guides are served below the mount prefix', async () => {
  await using mounted = await openApp({ graphs: ['echo'], http: { mount_prefix: '/agents' } });
  const inject = (url: string) => mounted.app.server.inject({ url });

  expect((await inject('/agents/docs/guides')).headers.location).toBe('/agents/docs/guides/README.md');
  expect((await inject('/agents/docs/guides/runs.md')).body).toContain(
    'href="/agents/docs/guides/style.css"',
  );
});

test('guides have an icon, which is served too', async () => {
  const { body } = await get('/docs/guides/runs.md');
  const [, icon = ''] = /<link rel="icon"[^>]* href="([^"]+)"/.exec(body) ?? [];
  const { statusCode, headers } = await get(icon);
  expect([statusCode, headers['content-type']]).toEqual([200, expect.stringMatching(/^image\/svg\+xml/)]);
});

test('pictures of guides are served with their media type', async () => {
  const { headers, rawPayload } = await get('/docs/guides/images/studio-run.png');
  expect(headers['content-type']).toBe('image/png');
  expect(rawPayload.subarray(1, 4).toString()).toBe('PNG');
});

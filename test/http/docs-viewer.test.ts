import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { viewerHandlers } from '../../src/http/docs-viewer.ts';
import { bareServer } from '../support/bare-server.ts';

test('every path of the documentation viewer is served', async () => {
  await using http = await bareServer();
  const handlers = await viewerHandlers({ mount_prefix: '', document: () => ({}) });
  const paths = [...handlers.keys()].map((path) => path.replace('*', 'swagger-ui.css'));
  expect(paths.length).toBeGreaterThan(7);
  const answers = await Promise.all(paths.map((path) => http.inject(path)));
  const refused = answers.filter(({ statusCode }) => ![200, 302].includes(statusCode));
  expect(refused.map(({ raw }) => raw.req.url)).toEqual([]);
});

test('the documentation viewer has the icon of Studio', async () => {
  await using http = await bareServer();
  const page = (await http.inject('/docs/')).body;
  const [, path = ''] = /<link rel="icon" type="image\/svg\+xml" href="([^"]+)"/.exec(page) ?? [];
  const icon = await http.inject(new URL(path, 'http://server/docs/').pathname);
  expect([icon.statusCode, icon.headers['content-type']]).toEqual([200, 'image/svg+xml']);
  const ofStudio = readFileSync(resolve(import.meta.dirname, '../../studio/src/icon.svg'), 'utf8');
  expect(icon.body).toBe(ofStudio.trim());
});

test('a file of the documentation viewer can be requested in part, and is 304 if the client has it', async () => {
  await using http = await bareServer();
  const path = '/docs/static/index.css';
  const { body, headers } = await http.inject(path);
  expect(headers['content-security-policy']).toContain("default-src 'self'");
  const part = await http.inject({ url: path, headers: { range: 'bytes=0-3' } });
  expect([part.statusCode, part.body]).toEqual([206, body.slice(0, 4)]);
  const known = await http.inject({ url: path, headers: { 'if-none-match': String(headers.etag) } });
  expect([known.statusCode, known.body]).toEqual([304, '']);
  expect((await http.inject('/docs/static/none.css')).json()).toEqual({ detail: 'Not Found' });
});

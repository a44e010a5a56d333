import { mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { fastify } from 'fastify';
import { expect, test } from 'vitest';
import { pageOfInvalid, pathToStudio, studioPages } from '../../../src/extensions/studio/pages.ts';
import { makeDataFolder } from '../../support/data-folder.ts';

const PAGE = '<script type="module" src="./assets/index-1.js"></script>';

/** A server with a build of Studio, under a prefix. */
async function serve(folder: string) {
  const server = fastify();
  await server.register(studioPages, { folder, path: '/studio', prefix: '/agents' });
  return server;
}

async function build(): Promise<string> {
  const folder = await makeDataFolder();
  mkdirSync(join(folder, 'assets'));
  writeFileSync(join(folder, 'index.html'), PAGE);
  writeFileSync(join(folder, 'component-frame.html'), PAGE);
  writeFileSync(join(folder, 'secret.txt'), 'secret');
  writeFileSync(join(folder, 'assets/index-1.js'), 'plain');
  return folder;
}

test('each view of Studio is the same page, which finds its files under any prefix', async () => {
  await using server = await serve(await build());
  for (const [url, path] of [
    ['/agents/studio', 'studio/assets'],
    ['/agents/studio/', './assets'],
    ['/agents/studio/runs?status=error', './assets'],
    ['/agents/studio/runs/01a2', '../assets'],
  ] as const) {
    const { statusCode, headers, body } = await server.inject(url);
    expect([url, statusCode, headers['cache-control']]).toEqual([url, 200, 'no-cache']);
    expect(body).toContain(`src="${path}/index-1.js"`);
    expect(new URL(`${path}/x`, `http://here${url}`).pathname).toBe('/agents/studio/assets/x');
  }
});

test('files of Studio are served compressed and immutable, and no other files', async () => {
  await using server = await serve(await build());
  const url = '/agents/studio/assets/index-1.js';
  const plain = await server.inject(url);
  expect([plain.body, plain.headers['cache-control']]).toEqual([
    'plain',
    'public, max-age=31536000, immutable',
  ]);
  expect(plain.headers['access-control-allow-origin']).toBe('*');
  for (const [accepted, encoding, decompress] of [
    ['gzip, deflate', 'gzip', gunzipSync],
    ['gzip, deflate, br, zstd', 'br', brotliDecompressSync],
  ] as const) {
    const { headers, rawPayload } = await server.inject({ url, headers: { 'accept-encoding': accepted } });
    expect([headers['content-encoding'], headers['vary']]).toEqual([encoding, 'Origin, Accept-Encoding']);
    expect(decompress(rawPayload).toString()).toBe('plain');
  }
  for (const path of ['../secret.txt', '%2e%2e/secret.txt', '..%2fsecret.txt', '%2e%2e%2fsecret.txt'])
    expect((await server.inject(`/agents/studio/assets/${path}`)).body).not.toBe('secret');
});

test('the Content-Security-Policy of Studio allows only its own files', async () => {
  await using server = await serve(await build());
  for (const url of ['/agents/studio', '/agents/studio/assets/index-1.js']) {
    const policy = String((await server.inject(url)).headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
    expect(policy).not.toContain('unsafe');
  }
});

test('the page for UI components has an opaque origin, no connections, and can be framed only by Studio', async () => {
  await using server = await serve(await build());
  const { headers, body } = await server.inject('/agents/studio/component-frame.html');
  const policy = String(headers['content-security-policy']).split('; ');
  expect(policy).toEqual(expect.arrayContaining(['sandbox allow-scripts', "default-src 'none'"]));
  expect(policy).toContain("frame-ancestors 'self'");
  expect(policy.join()).not.toMatch(/unsafe|connect-src|allow-same-origin/);
  expect(body).toContain('src="./assets/index-1.js"');
});

test('a server without a build of Studio says how to build it', async () => {
  await using server = await serve(await makeDataFolder());
  const { statusCode, body } = await server.inject('/agents/studio');
  expect([statusCode, body.includes('npm run build:studio')]).toEqual([503, true]);
});

test('the relative path to the files of Studio follows the depth of the view', () => {
  expect(pathToStudio('/studio/a/b/c', '/studio')).toBe('../../');
});

test.each([
  ['/agents/studio/runs/%ff', '../runs/%25ff'],
  ['/agents/studio/runs/%20%ff/b?q=%ff', '../../runs/%2520%25ff/b'],
  ['/agents/studio/%zz', './%25zz'],
  ['/agents/studio//elsewhere.example/%ff', '../..//elsewhere.example/%25ff'],
  ['/agents/studio/assets/%ff', undefined],
  ['/agents/threads/studio/%ff', undefined],
  ['/studio/%ff', undefined],
])('a view of Studio whose URL cannot be decoded redirects to one that can: %#', (url, view) => {
  const found = pageOfInvalid(url, ['/agents'], '/studio');
  if (view === undefined) expect(found).toBeUndefined();
  else {
    expect(new URL(String(found), `http://here${url}`).href).toBe(new URL(view, `http://here${url}`).href);
    expect(new URL(String(found), `http://here${url}`).href).toMatch(/^http:\/\/here\/agents\/studio\//);
  }
});

test('a file of Studio that could not be read is read again at the next request', async () => {
  const folder = await build();
  const file = join(folder, 'assets/late-1.js');
  mkdirSync(file);
  await using server = await serve(folder);
  const status = async () => (await server.inject('/agents/studio/assets/late-1.js')).statusCode;
  expect(await status()).toBe(500);
  rmdirSync(file);
  writeFileSync(file, 'there');
  expect(await status()).toBe(200);
});

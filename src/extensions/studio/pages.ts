import { readdir, readFile } from 'node:fs/promises';
import { extname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyPluginCallback, FastifyReply, FastifyRequest } from 'fastify';
import { NotFound } from '../../core/errors.ts';
import { PACKAGE_ROOT } from '../../core/package-files.ts';
import { prefixOf, withoutPrefix } from '../../http/mount-prefix.ts';

/** The application is built into this folder. */
const BUILD_FOLDER = join(PACKAGE_ROOT, 'dist/studio');

/**
 * Everything is served from here and nothing is evaluated, so text of users and models cannot become a script.
 */
const CONTENT_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "worker-src 'self'",
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * For the page that shows a graph's component in a frame of the chat. `sandbox` gives it an opaque origin: no
 * cookies, no storage, no access to other pages. It runs scripts of Studio and of the graphs (`/ui`) and
 * connects to nothing.
 */
const FRAME_POLICY = [
  'sandbox allow-scripts',
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  'img-src data: blob:',
  'media-src data: blob:',
  "font-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
].join('; ');

/** Files with a hash in their name never change. */
const YEAR_S = 365 * 24 * 60 * 60;

const MISSING = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Studio</title>
<h1>Studio is not built</h1><p>Build it with <code>npm run build:studio</code>, then load this page again.</p></html>
`;

/**
 * The files of Studio, a single-page application. They are public; the data that they show needs a session.
 * Every path below `path`, where Studio is mounted, is a view of the one page.
 */
export const studioPages: FastifyPluginCallback<{ folder?: string; path: string }> = (
  server,
  { folder = BUILD_FOLDER, path },
  done,
) => {
  server.addHook('onRoute', (route) => {
    route.config = { ...route.config, open: true };
  });
  server.addHook('onRequest', async (_request, reply) => {
    reply.header('content-security-policy', CONTENT_POLICY);
  });
  const assets = new Assets(resolve(folder, 'assets'));
  const config = { any_origin: true };
  server.get<{ Params: { name: string } }>(`${path}/assets/:name`, { config }, async (request, reply) => {
    const { params, headers } = request;
    const { type, body, encoding } = await assets.get(params.name, headers['accept-encoding'] ?? '');
    if (encoding !== undefined) reply.header('content-encoding', encoding);
    // Component frames have an opaque origin and load modules by CORS.
    reply.header('access-control-allow-origin', '*');
    reply.header('vary', 'Origin, Accept-Encoding').type(type);
    return reply.header('cache-control', `public, max-age=${YEAR_S}, immutable`).send(body);
  });
  const sendPage = (name: string, { url }: FastifyRequest, reply: FastifyReply) =>
    sendFile(resolve(folder, name), pathToStudio(url, `${server.prefix}${path}`), reply);
  for (const views of [path, `${path}/*`])
    server.get(views, (request, reply) => sendPage('index.html', request, reply));
  server.get(`${path}/component-frame.html`, (request, reply) => {
    reply.header('content-security-policy', FRAME_POLICY);
    return sendPage('component-frame.html', request, reply);
  });
  done();
};

async function sendFile(file: string, pathToFiles: string, reply: FastifyReply): Promise<FastifyReply> {
  const page = await readFile(file, 'utf8').catch(() => undefined);
  reply.type('text/html; charset=utf-8').header('cache-control', 'no-cache');
  if (page === undefined) return reply.status(503).send(MISSING);
  return reply.send(page.replaceAll('./assets/', `${pathToFiles}assets/`));
}

/**
 * Relative path from a view to the root of Studio, with a slash. Being relative, it is right under every prefix, even one
 * that only a proxy knows. `studio`: path of Studio with the server's own prefix.
 * @example pathToStudio('/prefix/studio/runs/1', '/prefix/studio') === '../'
 */
export function pathToStudio(url: string, studio: string): string {
  const path = url.replace(/[?#].*$/s, '');
  const depth = path.split('/').length - studio.split('/').length;
  return depth === 0 ? `${studio.split('/').at(-1)}/` : '../'.repeat(depth - 1) || './';
}

/**
 * Relative path to redirect to when a URL of Studio cannot be decoded: each `%` is encoded, so that Studio can say that there
 * is no such page. `undefined` if it is no view; `prefixes` are those under which the server has its routes.
 * @example pageOfInvalid('/studio/runs/%ff', [''], '/studio') === '../runs/%25ff'
 */
export function pageOfInvalid(
  url: string,
  prefixes: readonly string[],
  studio_path: string,
): string | undefined {
  const prefix = prefixOf(prefixes, url);
  const path = withoutPrefix(prefix ?? '', url);
  if (prefix === undefined || !path.startsWith(`${studio_path}/`)) return undefined;
  const [view = ''] = path.slice(studio_path.length + 1).split(/[?#]/);
  return view.startsWith('assets/')
    ? undefined
    : `${pathToStudio(url, `${prefix}${studio_path}`)}${view.replaceAll('%', '%25')}`;
}

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

const COMPRESSIONS = {
  br: (raw: Buffer) => promisify(brotliCompress)(raw, { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } }),
  gzip: (raw: Buffer) => promisify(gzip)(raw),
};
type Encoding = keyof typeof COMPRESSIONS;

interface Asset {
  readonly type: string;
  readonly body: Buffer;
  readonly encoding: Encoding | undefined;
}

/**
 * Files of the build, compressed once per encoding on first request, which takes 140 ms of CPU for all of them.
 * Ruled out: copies made at build. They add 0.74 MB of Brotli and 0.9 MB of gzip to 1.0 MB of the package.
 * Serves only names listed in the folder, which prevents path traversal.
 */
class Assets {
  readonly #folder: string;
  readonly #read = new Map<string, Promise<Asset>>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Throws `NotFound` if the build has no such file. */
  async get(name: string, accepted: string): Promise<Asset> {
    const isText = /\.(js|css|svg)$/.test(name);
    const encoding = isText ? (['br', 'gzip'] as const).find((each) => accepted.includes(each)) : undefined;
    const key = `${encoding}/${name}`;
    const known = this.#read.get(key);
    if (known !== undefined) return known;
    const names = await readdir(this.#folder).catch((): string[] => []);
    if (!names.includes(name)) throw new NotFound(`Studio has no file "${name}"`);
    const reading = this.#load(name, encoding);
    this.#read.set(key, reading);
    reading.catch(() => this.#read.delete(key));
    return reading;
  }

  async #load(name: string, encoding: Encoding | undefined): Promise<Asset> {
    const raw = await readFile(resolve(this.#folder, name));
    const body = encoding ? await COMPRESSIONS[encoding](raw) : raw;
    return { type: TYPES[extname(name)] ?? 'application/octet-stream', body, encoding };
  }
}

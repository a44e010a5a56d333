import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { NotFound } from '../../core/errors.ts';
import { lazy } from '../../core/lifecycle.ts';
import { PACKAGE_ROOT } from '../../core/package-files.ts';

/** Own style sheet and images only. */
const POLICY = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'";

/** Guides bundled with the server: they match its version and work offline. */
const IMAGES: Readonly<Record<string, string>> = { '.svg': 'image/svg+xml', '.png': 'image/png' };

export function guideRoutes(server: FastifyInstance, { docs }: { docs: string }): void {
  const pages = new Map<string, string | Buffer>();
  for (const path of ['/docs/guides', '/docs/guides/'])
    server.get(path, (_request, reply) => reply.redirect(`${docs}/guides/README.md`));
  server.get('/docs/guides/style.css', async (_request, reply) => {
    const { GUIDE_STYLE } = await import('../guide-page.ts');
    return reply.type('text/css; charset=utf-8').send(GUIDE_STYLE);
  });
  server.get<{ Params: { '*': string } }>('/docs/guides/*', async ({ params }, reply) => {
    const path = params['*'];
    const type = IMAGES[extname(path)] ?? 'text/html; charset=utf-8';
    const page = pages.get(path) ?? (await pageAt(path, docs));
    pages.set(path, page);
    return reply.header('Content-Security-Policy', POLICY).type(type).send(page);
  });
}

/** Rendered on demand: it takes up to 100 ms and a library that most servers never need. */
async function pageAt(path: string, docs: string): Promise<string | Buffer> {
  const file = await readGuide(path);
  if (file === undefined) throw new NotFound(`Guide "${path}" not found. All guides: ${docs}/guides`);
  if (extname(path) in IMAGES) return file;
  const { guidePage } = await import('../guide-page.ts');
  return guidePage(file.toString(), docs, path);
}

const GUIDES_FOLDER = join(PACKAGE_ROOT, 'docs');

/** Reads a guide by its path, or returns `undefined`. The allowlist of names prevents path traversal. */
async function readGuide(path: string): Promise<Buffer | undefined> {
  return (await guideNames()).has(path) ? readFile(join(GUIDES_FOLDER, path)) : undefined;
}

/** An installation may omit the guides. */
const guideNames = lazy(async () => {
  const found = await readdir(GUIDES_FOLDER, { recursive: true }).catch(() => []);
  return new Set(found.filter((name) => /\.(md|svg|png)$/.test(name)));
});

import { extname } from 'node:path';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { NotFound } from '../../core/errors.ts';
import { lazy } from '../../core/lifecycle.ts';
import { llmsText, MAX_QUERY } from '../guides/contents.ts';
import { guideContents, guideNames, readGuide, searchedGuides } from '../guides/files.ts';
import type { PageFrame } from '../guides/page.ts';

/** Own style sheet, script, images and search only. */
const POLICY =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'";

const IMAGES: Readonly<Record<string, string>> = { '.svg': 'image/svg+xml', '.png': 'image/png' };

/** Guides bundled with the server: they match its version and work offline. */
export function guideRoutes(server: FastifyInstance, { docs }: { docs: string }): void {
  const pages = new Map<string, string | Buffer>();
  const notFound = (path: string) => new NotFound(`Guide "${path}" not found. All guides: ${docs}/guides`);
  const html = (reply: FastifyReply) =>
    reply.header('Content-Security-Policy', POLICY).type('text/html; charset=utf-8');
  const frame = async (): Promise<PageFrame> => ({
    guides: `${docs}/guides`,
    api: docs,
    icon: `${docs}/static/theme/logo.svg`,
    search: 'search',
    pages: '.md',
    sections: await guideContents(),
  });

  for (const path of ['/docs/guides', '/docs/guides/'])
    server.get(path, (_request, reply) => reply.redirect(`${docs}/guides/README.md`));

  server.get('/docs/guides/style.css', async (_request, reply) => {
    const { GUIDE_STYLE } = await import('../guides/look.ts');
    return reply.type('text/css; charset=utf-8').send(GUIDE_STYLE);
  });

  server.get('/docs/guides/theme.js', async (_request, reply) => {
    const { THEME_SCRIPT } = await import('../guides/look.ts');
    return reply.type('text/javascript; charset=utf-8').send(THEME_SCRIPT);
  });

  server.get('/docs/guides/llms.txt', async (_request, reply) =>
    reply.type('text/plain; charset=utf-8').send(llmsText(await guideContents(), `${docs}/guides/markdown`)),
  );

  server.get<{ Querystring: { q?: unknown } }>('/docs/guides/search', async ({ query: { q } }, reply) => {
    const { searchPage } = await import('../guides/page.ts');
    const query = typeof q === 'string' ? q.slice(0, MAX_QUERY) : '';
    const matches = query === '' ? [] : (await search())(query);
    return html(reply).send(searchPage(query, matches, await frame()));
  });

  server.get<{ Params: { '*': string } }>(
    '/docs/guides/markdown/*',
    async ({ params: { '*': path } }, reply) => {
      const file = path.endsWith('.md') ? await readGuide(path) : undefined;
      if (file === undefined) throw notFound(path);
      return reply.type('text/markdown; charset=utf-8').send(file);
    },
  );

  server.get<{ Params: { '*': string } }>('/docs/guides/*', async ({ params: { '*': path } }, reply) => {
    const page = pages.get(path) ?? (await pageAt(path));
    if (page === undefined) {
      if ((await guideNames()).has(`${path}.md`)) return reply.redirect(`${docs}/guides/${path}.md`);
      throw notFound(path);
    }
    pages.set(path, page);
    const type = IMAGES[extname(path)];
    return type === undefined ? html(reply).send(page) : reply.type(type).send(page);
  });

  /** Rendered on demand: it takes up to 100 ms and a library that most servers never need. */
  async function pageAt(path: string): Promise<string | Buffer | undefined> {
    const file = await readGuide(path);
    if (file === undefined || extname(path) in IMAGES) return file;
    const { guidePage } = await import('../guides/page.ts');
    return guidePage(file.toString(), await frame(), path);
  }
}

/** Built with the first search, in about 0.1 s. */
const search = lazy(async () => {
  const { guideSearch, partsOfGuides } = await import('../guides/search.ts');
  return guideSearch(partsOfGuides(await searchedGuides(), await guideContents()));
});

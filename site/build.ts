// Writes the guides as a site of static files, with the search of the server in the browser: `npm run docs:build -- FOLDER`.
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, posix, resolve } from 'node:path';
import { build } from 'esbuild';
import { LOGO } from '../src/http/docs-page.ts';
import { llmsText } from '../src/http/guides/contents.ts';
import { guideContents, guideNames, readGuide, searchedGuides } from '../src/http/guides/files.ts';
import { GUIDE_STYLE, THEME_SCRIPT } from '../src/http/guides/look.ts';
import { pageAddress } from '../src/http/guides/matches.ts';
import { guidePage, type PageFrame, searchPage } from '../src/http/guides/page.ts';
import { partsOfGuides } from '../src/http/guides/search.ts';

const ROOT = resolve(import.meta.dirname, '..');

/** Addresses are relative, so the site works below any path. */
async function frameOf(path: string): Promise<PageFrame> {
  const guides = posix.relative(posix.dirname(path), '.') || '.';
  return {
    guides,
    api: `${guides}/api.html`,
    icon: `${guides}/logo.svg`,
    search: 'search.html',
    pages: '.html',
    sections: await guideContents(),
  };
}

/** Resolves to the paths of the files that it wrote. */
export async function buildSite(folder: string): Promise<string[]> {
  const written: string[] = [];
  const write = async (path: string, content: string | Buffer) => {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content);
    written.push(path);
  };

  for (const path of await guideNames()) {
    const content = (await readGuide(path)) as Buffer;
    if (!path.endsWith('.md')) await write(path, content);
    else {
      await write(`markdown/${path}`, content);
      await write(pageAddress(path, '.html'), await guidePage(content.toString(), await frameOf(path), path));
    }
  }
  const sections = await guideContents();
  const page = searchPage('', [], await frameOf('search.html'));
  await write(
    'search.html',
    page.replace('</body>', '<script type="module" src="search.js"></script>\n</body>'),
  );
  await write('search.json', JSON.stringify(partsOfGuides(await searchedGuides(), sections)));
  await write('llms.txt', llmsText(sections, 'markdown'));
  await write('style.css', GUIDE_STYLE);
  await write('theme.js', THEME_SCRIPT);
  await write('logo.svg', LOGO);
  await bundleSearch(join(folder, 'search.js'));
  await cp(join(ROOT, 'openapi/openapi.json'), join(folder, 'openapi.json'));
  return [...written, 'search.js', 'openapi.json'];
}

async function bundleSearch(outfile: string): Promise<void> {
  await build({
    entryPoints: [join(ROOT, 'site/search.js')],
    outfile,
    bundle: true,
    format: 'esm',
    minify: true,
    logLevel: 'warning',
  });
}

if (process.argv[1] === import.meta.filename) await buildSite(resolve(process.argv[2] ?? 'dist-site'));

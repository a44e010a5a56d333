import { mkdtempSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildSite } from '../site/build.ts';

const folder = mkdtempSync(join(tmpdir(), 'agent-server-site-'));
/** What the site has, by the address below it. */
const files = new Map<string, string>();

beforeAll(async () => {
  for (const path of await buildSite(folder)) files.set(path, await readFile(join(folder, path), 'utf8'));
});

afterAll(() => rm(folder, { recursive: true }));

const pages = () => [...files].filter(([path]) => path.endsWith('.html'));

/** Addresses that a page names, other than those of other sites. */
function addressesOf(html: string): string[] {
  const named = html.matchAll(/<(?:a|link|form|script|img)\s[^>]*?(?:href|src|action)="([^"]+)"/g);
  return [...named].map(([, address = '']) => address).filter((address) => !/^[a-z]+:/.test(address));
}

test('the site has every page of the guides, with the contents by section', () => {
  const sections = [...(files.get('index.html') ?? '').matchAll(/<summary>(\w+)<\/summary>/g)];
  expect(sections.map(([, title]) => title)).toEqual([
    'Start',
    'Guides',
    'Recipes',
    'Concepts',
    'Operations',
    'Reference',
    'Internals',
  ]);
  expect(pages().length).toBeGreaterThan(70);
  expect([...files.keys()]).toEqual(
    expect.arrayContaining(['recipes/blue-green.html', 'decisions/index.html', 'api.html', 'openapi.json']),
  );
});

test('every link of the site leads to a file of it and to a heading that is there', () => {
  const broken = pages().flatMap(([path, html]) =>
    addressesOf(html).filter((address) => {
      // Below a path, as on a host that serves several sites: no address may begin at the root.
      const { pathname, hash } = new URL(address, `http://site.test/below/${path}`);
      const target = files.get(decodeURIComponent(pathname.replace('/below/', '')));
      return (
        target === undefined ||
        (hash !== '' && !target.includes(` id="${decodeURIComponent(hash.slice(1))}"`))
      );
    }),
  );
  expect(broken).toEqual([]);
});

test('the site loads nothing from elsewhere', () => {
  const loaded = pages().flatMap(([, html]) => [
    ...html.matchAll(/<(?:script|link|img|iframe)\s[^>]*"https?:/g),
  ]);
  expect(loaded.map(([tag]) => tag)).toEqual([]);
  expect(/https?:|url\(|@import/.test(files.get('style.css') ?? '')).toBe(false);
});

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');
const PAGES = [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  '.github/SECURITY.md',
  'src/README.md',
  ...markdownOf('docs'),
];

function markdownOf(folder: string): string[] {
  return readdirSync(join(ROOT, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name));
}

test.each(PAGES)('links of %s lead somewhere', (page) => {
  const text = readFileSync(join(ROOT, page), 'utf8');
  const links = [...text.matchAll(/\]\((?!https?:)([^)#]+)/g)].map((match) => match[1] as string);
  const broken = links.filter((link) => !existsSync(resolve(ROOT, dirname(page), link)));

  expect(broken).toEqual([]);
});

/** As GitHub makes them of headings. */
function anchorsOf(page: string): string[] {
  const headings = readFileSync(join(ROOT, page), 'utf8').matchAll(/^#+ (.+)$/gm);
  return [...headings].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
}

test.each(PAGES)('links of %s to sections lead to a heading', (page) => {
  const text = readFileSync(join(ROOT, page), 'utf8');
  const links = [...text.matchAll(/\]\((?!https?:)([^)#]*)#([^)]+)\)/g)];
  const broken = links.filter(([, path = '', anchor = '']) => {
    const target = path === '' ? page : relative(ROOT, resolve(ROOT, dirname(page), path));
    return existsSync(join(ROOT, target)) && !anchorsOf(target).includes(anchor);
  });

  expect(broken.map(([link]) => link)).toEqual([]);
});

test('src/README.md names files and folders that exist', () => {
  const text = readFileSync(join(ROOT, 'src/README.md'), 'utf8');
  const names = [...text.matchAll(/`([\w/-]+(?:\/|\.ts))`/g)].map((match) => match[1] as string);
  const missing = names.filter(
    (name) => !existsSync(join(ROOT, name.startsWith('test/') ? '' : 'src', name)),
  );

  expect(names.length).toBeGreaterThan(40);
  expect(missing).toEqual([]);
});

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');
const GUIDES = markdownOf('docs');
const PAGES = [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  '.github/SECURITY.md',
  '.github/pull_request_template.md',
  'src/README.md',
  'examples/postgres-cluster/README.md',
  ...GUIDES,
];

function markdownOf(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name));
}

/** The files that a page links to, relative to the root of the repository. */
function linksOf(page: string): string[] {
  const text = readFileSync(join(ROOT, page), 'utf8');
  return [...text.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, link = '']) =>
    relative(ROOT, resolve(ROOT, dirname(page), link)),
  );
}

test.each(PAGES)('links of %s lead to existing files', (page) => {
  expect(linksOf(page).filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
});

test.each(PAGES)('%s has no marks of a merge conflict', (page) => {
  expect(readFileSync(join(ROOT, page), 'utf8').match(/^(?:<{7}|={7}|>{7})(?: .*)?$/gm) ?? []).toEqual([]);
});

test('every page of docs/ can be reached from README.md', () => {
  const reached = new Set(['README.md']);
  // A set also iterates over what is added on the way.
  for (const page of reached)
    for (const file of linksOf(page))
      if (file.endsWith('.md') && existsSync(join(ROOT, file))) reached.add(file);

  expect(GUIDES.length).toBeGreaterThan(30);
  expect(GUIDES.filter((page) => !reached.has(page))).toEqual([]);
});

test.each(['contract', 'engine'])('each section of %s that a comment cites exists', (page) => {
  const text = readFileSync(join(ROOT, `docs/internals/${page}.md`), 'utf8');
  const sections = new Set([...text.matchAll(/^#+ ([\d.]+?)\.? /gm)].map(([, section]) => section));
  const cited = sourcesOf('src').flatMap((file) =>
    [
      ...readFileSync(file, 'utf8').matchAll(new RegExp(`\\b${page}[\\s*]+((?:§[\\d.]*\\d(?:, )?)+)`, 'gi')),
    ].flatMap(([, list = '']) => list.replaceAll('§', '').split(', ')),
  );
  expect(cited.length).toBeGreaterThan(10);
  expect(cited.filter((section) => section && !sections.has(section))).toEqual([]);
});

function sourcesOf(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(ROOT, folder, name));
}

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

  expect(names.length).toBeGreaterThan(80);
  expect(missing).toEqual([]);
});

test('src/README.md has at most sixty rows in its tables', () => {
  const text = readFileSync(join(ROOT, 'src/README.md'), 'utf8');
  const tables = [...text.matchAll(/^\|.*\n\|[-|]+\n((?:\|.*\n)+)/gm)].map(([, rows = '']) => rows);
  const rows = tables.flatMap((each) => each.trim().split('\n'));

  expect(rows.length).toBeGreaterThan(40);
  expect(rows.length).toBeLessThanOrEqual(60);
});

test.each(
  readdirSync(join(ROOT, 'src/extensions'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name),
)('the extension %s has a row in src/README.md, and a page of ten to thirty lines', (name) => {
  const lines = readFileSync(join(ROOT, `src/extensions/${name}/README.md`), 'utf8')
    .trim()
    .split('\n');

  expect(readFileSync(join(ROOT, 'src/README.md'), 'utf8')).toContain(`| \`extensions/${name}/\` |`);
  expect(lines.length).toBeGreaterThanOrEqual(10);
  expect(lines.length).toBeLessThanOrEqual(30);
});

test.each(PAGES.filter((page) => /^(docs\/(internals|decisions)\/|CONTRIBUTING)/.test(page)))(
  'the sources that %s names exist',
  (page) => {
    const text = readFileSync(join(ROOT, page), 'utf8');
    const names = [...text.matchAll(/`((?:src|test|openapi)\/[\w/.-]*)`/g)].map(
      (match) => match[1] as string,
    );

    expect(names.filter((name) => !name.includes('NNN') && !existsSync(join(ROOT, name)))).toEqual([]);
  },
);

test('src/README.md describes every layer and its folders', () => {
  const text = readFileSync(join(ROOT, 'src/README.md'), 'utf8');
  const foldersOf = (path: string) =>
    readdirSync(join(ROOT, path), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
  const [, divided = ''] = /^## Folders within a layer$([\s\S]*?)^## /m.exec(text) ?? [];
  const missing = [
    ...foldersOf('src').filter(
      (layer) => !text.includes(`| \`${layer}/\``) && !text.includes(`, \`${layer}/\` |`),
    ),
    ...['storage', 'db', 'services', 'graphs'].flatMap((layer) =>
      foldersOf(`src/${layer}`).filter((folder) => !new RegExp(`\\b${folder}\\b`).test(divided)),
    ),
  ];

  expect(missing).toEqual([]);
});

test.each(markdownOf('docs/decisions'))(
  '%s has context, decision and consequences in at most 40 lines',
  (page) => {
    const text = readFileSync(join(ROOT, page), 'utf8');
    if (!page.endsWith('README.md')) {
      expect(text.match(/^## .+$/gm)).toEqual(['## Context', '## Decision', '## Consequences']);
    }
    expect(text.split('\n').length).toBeLessThanOrEqual(41);
  },
);

import { readFileSync } from 'node:fs';
import { posix, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { packedPaths } from './pack.ts';

const ROOT = resolve(import.meta.dirname, '../..');

const paths = await packedPaths();

test('every relative link of a page in the package leads to a file in the package', () => {
  const pages = paths.filter((path) => path.endsWith('.md'));
  const links = pages.flatMap((page) =>
    [...readFileSync(resolve(ROOT, page), 'utf8').matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(
      ([, link = '']) => posix.join(posix.dirname(page), link),
    ),
  );

  expect(pages).toContain('README.md');
  expect(links).toContain('docs/images/architecture.svg');
  expect(links.length).toBeGreaterThan(20);
  expect(links.filter((link) => !paths.some((path) => path === link || path.startsWith(`${link}/`)))).toEqual(
    [],
  );
});

test('the package contains Studio', () => {
  expect(paths).toContain('dist/studio/index.html');
  expect(paths.filter((path) => /^dist\/studio\/assets\/.+\.(js|css)$/.test(path))).not.toEqual([]);
});

test('the package contains the examples of the README, but no sources or tests', () => {
  for (const example of ['echo', 'assistant', 'research', 'a2a-two-agents', 'mcp-tools'])
    expect(paths.filter((path) => path.startsWith(`examples/${example}/`))).not.toEqual([]);
  expect(paths.filter((path) => /^(src|test)\/.*\.ts$/.test(path))).toEqual([]);
});

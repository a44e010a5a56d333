import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isRight } from './block-checks.ts';
import { blocksOf, pagesIn, ROOT } from './blocks.ts';
import { RUN_BLOCKS } from './run-blocks.ts';

const PAGES = [
  ...['README.md', 'CONTRIBUTING.md'],
  ...['docs', 'examples', 'skills', 'templates'].flatMap(pagesIn),
];

/** How many blocks a page has in each language, by `page language`. */
function countsOf(blocks: readonly (readonly [page: string, language: string, count: number])[]) {
  const counts: Record<string, number> = {};
  for (const [page, language, count] of blocks)
    counts[`${page} ${language}`] = (counts[`${page} ${language}`] ?? 0) + count;
  return counts;
}

test('every block of a page is right as it stands, is run by a test, or has a reason why not', async () => {
  const unjudged: [string, string, number][] = [];
  for (const page of PAGES)
    for (const block of blocksOf(page))
      if (!(await isRight(page, block))) unjudged.push([page, block.language, 1]);

  const listed = RUN_BLOCKS.flatMap(([page, , blocks]) =>
    Object.entries(blocks).map(([language, count]) => [page, language, count] as const),
  );
  expect(countsOf(unjudged)).toEqual(countsOf(listed));
});

test.each(PAGES)('%s: every fence begins or ends a block that names its language', (page) => {
  const fences = readFileSync(join(ROOT, page), 'utf8').match(/^ *```.*$/gm) ?? [];
  expect(fences).toHaveLength(2 * blocksOf(page).length);
});

test.each(RUN_BLOCKS.filter(([, by]) => by.endsWith('.ts')))(
  '%s: its blocks are read by test/%s',
  (page, by) => {
    expect(existsSync(join(ROOT, 'test', by))).toBe(true);
    const source = readFileSync(join(ROOT, 'test', by), 'utf8');
    const recipe = page.replace(/^docs\/recipes\/|\.md$/g, '');
    expect(
      [page, `'${recipe}'`, page.replace(/\/README\.md$/, '')].some((name) => source.includes(name)),
    ).toBe(true);
  },
);

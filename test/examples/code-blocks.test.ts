import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { transform } from 'esbuild';
import { describe, expect, test } from 'vitest';
import { COMMANDS } from '../../src/cli/all-commands.ts';
import { parsed, wordsOf } from './block-checks.ts';
import { blocksOf, pagesIn, ROOT } from './blocks.ts';

/** What users read; the pages for contributors have fragments of code that nobody copies. */
const PAGES = [
  'README.md',
  ...pagesIn('docs').filter((page) => !/^docs\/(?:internals|decisions)\//.test(page)),
];

/** Pages with commands that no test runs, and why. */
const NOT_RUN: Readonly<Record<string, string>> = {
  'docs/performance.md': 'measures for minutes to hours',
  'docs/studio.md': 'only starts the server as the README does',
};

function namesIn(folder: string, ending: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith(ending),
  );
}

const TESTS = ['.test.ts', '.check.ts']
  .flatMap((ending) => namesIn('test', ending))
  .filter((name) => name !== 'examples/code-blocks.test.ts')
  .map((name) => readFileSync(join(ROOT, 'test', name), 'utf8'))
  .join('\n');

const blocks = PAGES.flatMap((page) => blocksOf(page).map((block) => ({ page, ...block })));
const of = (...languages: string[]) => blocks.filter(({ language }) => languages.includes(language));

test('each page with commands or programs has a test, or a reason is given why it has none', () => {
  const pages = new Set(of('sh', 'js', 'ts', 'tsx', 'python').map(({ page }) => page));
  const isNamed = (page: string) =>
    TESTS.includes(page) || TESTS.includes(`'${page.replace('docs/recipes/', '').replace('.md', '')}'`);
  expect([...pages].filter((page) => !isNamed(page) && NOT_RUN[page] === undefined)).toEqual([]);
});

describe('commands', () => {
  // In blocks, in tables and in sentences.
  const lines = [...PAGES, 'CONTRIBUTING.md', ...pagesIn('skills'), ...pagesIn('templates')].flatMap((page) =>
    [
      ...readFileSync(join(ROOT, page), 'utf8')
        .replaceAll(/\\\n\s*/g, '')
        .matchAll(/npx agent-server ([^\n|;&)`]+)/g),
    ].map(([, line = '']) => [page, line.replace(/ #.*/, '').trim()] as const),
  );

  test.each(lines)('%s: agent-server %s has flags and arguments that exist', (_page, line) => {
    const words = wordsOf(line);
    // A sentence may name a command alone.
    if (COMMANDS.some(({ name }) => name === words.join(' ')) || words[0] === '--help') return;
    expect(() => parsed(words)).not.toThrow();
  });
});

test('every program has valid syntax', async () => {
  const broken = await Promise.all(
    of('js', 'ts', 'tsx').map(({ page, language, text }) =>
      transform(text, { loader: language as 'js', format: 'esm', logLevel: 'silent' }).then(
        () => undefined,
        (error: Error) => `${page}: ${error.message}`,
      ),
    ),
  );
  expect(broken.filter((problem) => problem !== undefined)).toEqual([]);
});

test('every example of JSON can be parsed', () => {
  const whole = of('json').filter(({ text }) => !text.includes('…') && !text.includes('//'));
  const broken = whole.filter(({ text }) => {
    try {
      JSON.parse(text);
      return false;
    } catch {
      return true;
    }
  });
  expect(whole.length).toBeGreaterThan(10);
  expect(broken.map(({ page, text }) => [page, text])).toEqual([]);
});

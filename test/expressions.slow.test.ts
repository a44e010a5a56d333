import { describe, expect, test } from 'vitest';
import {
  type Expression,
  expressionsOfSources,
  hardTextsFor,
  slowOf,
  sourceOf,
} from './support/expressions.ts';

/** Not linear, or not decided in time, and why no text of clients, graphs or libraries comes near them. */
const SPARED: Readonly<Record<string, string>> = {
  'node.ts /\\/\\/.*@/': 'the address of the database, from the configuration',
  'node.ts /\\?.*$/': 'the address of the database, from the configuration',
  'config/substitute.ts /\\$\\$\\{|\\$\\{([A-Za-z_]\\w*)(?::-([^}]*))?\\}/g': 'the text of the configuration',
  'config/sections/storage.ts /^.+:.+$/': 'the configuration',
  'extensions/generative-ui/tailwind.ts /@(?:tailwind|theme|apply|utility|variant|custom-variant|reference|plugin|config|source)\\b|@import\\s+["\']tailwindcss/':
    'style sheets of the project; too many words to be decided in time',
};

/**
 * Foreign texts do come near these, but no procedure decides them: with their bounded repetitions the automaton has too
 * many states, which takes it a minute to find out. They only pass through the hard texts.
 */
const UNDECIDED = new Set([
  'core/mask-secrets.ts /\\b((?:proxy-)?authorization[\\\\"\']{0,2}\\s{0,3}[:=]\\s{0,3}[\\\\"\']{0,2}(?:[a-z-]{1,20}\\s{1,3})?)[^\\s\\\\"\',;]{3,}/gi',
]);

/** Made at run time, and of what. */
const MADE: Readonly<Record<string, string>> = {
  "http/header-patterns.ts new RegExp(`^${source}$`, 'i')":
    'a glob of the configuration, over the name of a header',
  'http/plugins/cors.ts new RegExp(`^(?:${allow_origin_regex})$`)':
    'the configuration, over the header Origin',
  'http/plugins/route-table.ts new RegExp(`^${source}$`)':
    'one of our paths, each part of it up to the next slash',
  'config/sections/http.ts new RegExp(text)': 'the configuration; it is only compiled',
  'extensions/deployments/serving/serving.ts new RegExp(`/threads/(${UUID})(?:/runs/(${UUID})/(?:graph|schemas|subgraphs)/?$)?(?=/|$)`)':
    'words and ids of a fixed length, so that each attempt ends within a hundred characters',
};

/** Code units; a quadratic expression takes seconds for them, a linear one well below a millisecond. */
const LENGTH = 24 * 1024;
const LIMIT_MS = 100;

const { literals, made } = await expressionsOfSources();
const distrusted = literals.filter((each) => !(nameOf(each) in SPARED));
/** Each text once, wherever it stands: to decide one takes up to four seconds. */
const examined = [...new Map(distrusted.map((each) => [each.text, each])).values()];
const decidable = examined.filter((each) => !UNDECIDED.has(nameOf(each)));

function nameOf({ file, text }: Expression): string {
  return `${file} ${text}`;
}

/** The decision of a procedure that knows every backtracking; undefined for look-behind and references to groups. */
async function isLinear(expression: Expression): Promise<boolean | undefined> {
  // The library's own JavaScript, on every machine the same.
  process.env['RECHECK_BACKEND'] = 'pure';
  const { check } = await import('recheck');
  const { source, flags } = sourceOf(expression);
  const { status } = await check(source, flags, { checker: 'automaton', timeout: 60_000 });
  return status === 'unknown' ? undefined : status === 'safe';
}

describe('regular expressions of the server', () => {
  test('in the sources are all listed', () => {
    expect(literals.length).toBeGreaterThan(100);
    expect(made.map(nameOf).toSorted()).toEqual(Object.keys(MADE).toSorted());
    const names = literals.map(nameOf);
    const listed = [...Object.keys(SPARED), ...UNDECIDED];
    expect(listed.filter((name) => !names.includes(name))).toEqual([]);
  });

  test('are linear, except those that see only trusted text', { timeout: 600_000 }, async () => {
    const wrong: string[] = [];
    for (const each of decidable) if ((await isLinear(each)) === false) wrong.push(nameOf(each));
    expect(wrong).toEqual([]);
  });

  test('are fast on adversarial texts, even when all matches are searched', { timeout: 600_000 }, () => {
    const slow = examined.flatMap((each) => {
      const text = slowOf(each, hardTextsFor(each, LENGTH), LIMIT_MS);
      return text === undefined ? [] : [`${nameOf(each)}: ${JSON.stringify(text.slice(0, 20))}…`];
    });
    expect(slow).toEqual([]);
  });
});

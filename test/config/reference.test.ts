import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import { ALL_VARIABLES } from '../../src/config/config-file.ts';
import { type ConfigKey, configKeys } from '../../src/config/reference.ts';

const PAGE = join(import.meta.dirname, '../../docs/configuration.md');

/** The tables of the page are between `<!-- name -->` and `<!-- /name -->`; `vitest -u` writes them anew. */
function withTable(page: string, name: string, header: string, rows: readonly string[][]): string {
  const table = [header, header.replace(/[^|]+/g, '---'), ...rows.map((row) => `| ${row.join(' | ')} |`)];
  const [before, after] = page.split(new RegExp(`(?<=<!-- ${name} -->\n)[^]*(?=<!-- /${name} -->)`));
  return `${before}${table.join('\n')}\n${after}`;
}

function defaultOf({ default: value, key }: ConfigKey): string {
  if (key === 'graphs') return 'required';
  // A map without keys stands for what is unset.
  if (value === undefined || isDeepStrictEqual(value, {})) return '';
  const texts = [value].flat().map((item) => `\`${typeof item === 'object' ? JSON.stringify(item) : item}\``);
  return texts.length === 0 ? 'none' : texts.join(', ');
}

/** The first sentence of a key's description, without the database that it applies to. */
function summaryOf(key: string): string {
  const { description = '' } = configKeys().find((each) => each.key === key) ?? {};
  return description.replace(/^(?:PostgreSQL|SQLite)\. /, '').replace(/(?<=\.) .*/s, '');
}

test('the page describes every key and every variable, with their defaults', async () => {
  const keys = configKeys().map((entry) => [
    `\`${entry.key.replace('*', '<name>')}\``,
    [entry.type, entry.range].filter((part) => part !== undefined).join(', '),
    defaultOf(entry),
    `${entry.description}${entry.pending ? ' *Not yet: accepted with a warning.*' : ''}`,
  ]);
  const variables = ALL_VARIABLES.map(({ name, key, json, note }) => [
    `\`${name}\``,
    `\`${key}\``,
    json ? 'The whole block, as JSON.' : [summaryOf(key), ...(note === undefined ? [] : [note])].join(' '),
  ]);
  const page = await readFile(PAGE, 'utf8');

  const described = withTable(
    withTable(page, 'keys', '| key | type | default | meaning |', keys),
    'variables',
    '| variable | key | meaning |',
    variables,
  );

  expect(described).not.toContain('[object');
  await expect(described).toMatchFileSnapshot(PAGE);
});

test('every variable sets an existing key and is listed once', () => {
  const known = configKeys().map(({ key }) => key);
  const unknown = ALL_VARIABLES.filter(
    ({ key }) => !known.some((name) => name === key || name.startsWith(`${key}.`)),
  );

  expect(unknown).toEqual([]);
  expect(new Set(ALL_VARIABLES.map(({ name }) => name)).size).toBe(ALL_VARIABLES.length);
});

test('every key has a description', () => {
  expect(configKeys().filter(({ description, type }) => description === '' || type === '')).toEqual([]);
});

import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { ROWS } from '../rows.ts';
import { edited } from './edited.ts';
import { type Edit, FAULTS } from './faults.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

test.each(Object.entries(FAULTS))('fault "%s" finds the code that it changes', (_, edits) => {
  const sources = new Map<string, string>();
  for (const each of edits as readonly Edit[])
    sources.set(each.file, edited(sources.get(each.file) ?? read(each.file), each));
  expect(sources.size).toBeGreaterThan(0);
});

test('each guarantee names an existing test and is on the page', () => {
  const page = read('docs/internals/guarantees.md');
  for (const { row, file, test: name, without } of ROWS) {
    expect(read(`test/chaos/${file}.test.ts`)).toContain(name);
    expect(page).toMatch(new RegExp(`^\\| ${row} .*\`${file}.test.ts\` \\| ${without} \\|$`, 'm'));
  }
  expect(new Set(ROWS.map(({ row }) => row)).size).toBe(15);
});

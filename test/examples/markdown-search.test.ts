import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { searchMarkdown } from '../../examples/markdown-search.ts';

const NOTES = join(import.meta.dirname, '../../examples/assistant/notes');

test.each([
  ['How many days of holiday can I carry over?', 'time-off.md', 'Time off: Carry-over'],
  ['When does the shop open on Saturday?', 'opening-hours.md', 'Opening hours: Shop'],
  ['Can a customer return a helmet?', 'refunds.md', 'Refunds and repairs: Parts, clothing and helmets'],
  ['How do I claim an expense?', 'expenses.md', 'Expenses: How to claim'],
  ['a swollen battery', 'workshop-safety.md', 'Workshop safety: Batteries of e-bikes'],
])('the query %s finds %s', async (query, file, heading) => {
  const [best] = await searchMarkdown(NOTES, query, 1);

  expect(best).toMatchObject({ file, heading });
});

test('the search in Markdown files returns the best passages first, up to the limit', async () => {
  const passages = await searchMarkdown(NOTES, 'repair within 90 days', 2);
  const scores = passages.map(({ score }) => score);

  expect(passages).toHaveLength(2);
  expect(scores).toEqual(scores.toSorted((a, b) => b - a));
});

test.each(['the capital of France', 'what is it about?', '', '?!'])(
  'the search in Markdown files finds nothing for %j',
  async (query) => {
    expect(await searchMarkdown(NOTES, query, 3)).toEqual([]);
  },
);

test('the search reads only Markdown files, in their present state', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'notes-'));
  await mkdir(join(folder, 'deeper'));
  await writeFile(join(folder, 'plan.txt'), '# Plan\n\n## Lunch\nSoup\n');
  expect(await searchMarkdown(folder, 'lunch', 3)).toEqual([]);

  await writeFile(join(folder, 'plan.md'), '# Plan\n\n## Lunch\nSoup,\nbread\n');
  expect(await searchMarkdown(folder, 'lunch', 3)).toMatchObject([
    { heading: 'Plan: Lunch', text: 'Soup, bread' },
  ]);
});

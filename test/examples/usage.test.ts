import { expect, test } from 'vitest';
import { python } from '../support/python.ts';
import { inProgram, NODE, onlyBlock } from './blocks.ts';
import { useCallsOf } from './started.ts';

const PAGE = 'docs/usage.md';

const page = useCallsOf(PAGE);

/** Of the one run of the page: its day, its assistant, its calls and their cost. */
const GROUP = /^\d{4}-\d\d-\d\d [\da-f-]{36} \d+ 0\.\d+$/m;

test('docs/usage.md: the calls succeed, and the last one reports the usage of the run', () => {
  expect(page.outcomes.map(({ complaints, statuses }) => [complaints, statuses])).toEqual([['', [200, 200]]]);
  expect(page.outcomes[0]?.output).toMatch(/"groups":\[\{"model":"[^"]*","day":"[^"]+","calls":[1-9]/);
});

test('docs/usage.md, JavaScript', async () => {
  const program = onlyBlock(PAGE, 'js', '/usage');
  expect(await inProgram(NODE, ['--input-type=module'], program, page.server.url)).toMatch(GROUP);
});

test.runIf(python)('docs/usage.md, Python', async () => {
  const program = onlyBlock(PAGE, 'python', '/usage');
  expect(await inProgram(python as string, ['-'], program, page.server.url)).toMatch(GROUP);
});

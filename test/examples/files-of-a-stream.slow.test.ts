import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { project } from '../support/project.ts';
import { NODE, ROOT } from './blocks.ts';

const PAGE = 'docs/internals/architecture.md';

/** The second column of the table in the section. */
function listed(): string[] {
  const [, section = ''] =
    /^### The files of one stream$([\s\S]*?)^## /m.exec(readFileSync(join(ROOT, PAGE), 'utf8')) ?? [];
  return [...section.matchAll(/^\|[^|]*\| `(src\/[\w/-]+\.ts)` \|/gm)].map(([, file = '']) => file);
}

test('a streamed run in process executes each file that the guide lists, at most thirty', async () => {
  const graph = join(ROOT, 'test/fixtures/graphs/ten-steps.ts:graph');
  const config = JSON.stringify({ graphs: { agent: graph }, hosts: { count: 0 } });
  await using folder = await project({ 'agent.config.yaml': config });
  const program = join(ROOT, 'test/examples/executed-files.ts');

  const { stdout } = await promisify(execFile)(NODE, [program, folder.root]);

  const files = listed();
  const executed = JSON.parse(stdout) as string[];
  expect(files.length).toBeGreaterThan(20);
  expect(files.length).toBeLessThanOrEqual(30);
  expect(files.filter((file) => !executed.includes(file))).toEqual([]);
});

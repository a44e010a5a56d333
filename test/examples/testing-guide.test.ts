import { expect, test } from 'vitest';
import { inProgram, ROOT } from './blocks.ts';
import { projectOf } from './project-of.ts';

test('docs/testing.md: the tests pass, alone and against a server', async () => {
  await using folder = await projectOf('docs/testing.md');
  const command = `cd ${folder.root} && PATH="${ROOT}/node_modules/.bin:$PATH" && unset AGENT_MODEL NODE_OPTIONS &&
    LANGCHAIN_CALLBACKS_BACKGROUND=false node --test`;

  expect(await inProgram('bash', ['-s'], command, '')).toMatch(/pass 3\b[\s\S]*fail 0\b/);
});

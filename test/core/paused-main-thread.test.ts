import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { agentServer } from '../support/program.ts';

const program = (name: string) => resolve(import.meta.dirname, '../fixtures/watching', name);

test('a request withdrawn while the main thread is paused for it resumes that thread without a warning', async () => {
  const ended = await agentServer([], { program: program('question.ts') });
  expect(ended).toEqual({ code: 0, stdout: '', stderr: '' });
});

test('globals are known wherever the main thread is paused, also within functions of Node', async () => {
  const ended = await agentServer([], { program: program('in-node.ts') });
  expect(ended).toEqual({ code: 0, stdout: 'function', stderr: '' });
});

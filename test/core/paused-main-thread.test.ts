import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { agentServer } from '../support/program.ts';

const PROGRAM = resolve(import.meta.dirname, '../fixtures/watching/question.ts');

test('a request withdrawn while the main thread is paused for it resumes that thread without a warning', async () => {
  expect(await agentServer([], { program: PROGRAM })).toEqual({ code: 0, stdout: '', stderr: '' });
});

import { getLogger } from '@langchain/langgraph-sdk/logging';
import { expect, test } from 'vitest';
import type { LogLine } from '../../src/core/logger.ts';
import { loadGraphs } from '../../src/graphs/runtime/load-graphs.ts';
import { recordingLogger } from '../support/recording-logger.ts';

test('the logger of the SDK writes lines of a graph to the log of the server', async () => {
  const lines: LogLine[] = [];
  await loadGraphs([], {
    root: import.meta.dirname,
    logger: recordingLogger('debug', (line) => lines.push(line)),
  });
  const failure = new Error('the model is gone');

  getLogger().warn('nearly full', { rows: 9 }).verbose({ message: 'asked', model: 'small' });
  getLogger().error('no answer', failure);
  getLogger().error(failure);
  getLogger().http('asked again');

  expect(lines).toEqual([
    { level: 'warn', message: 'nearly full', fields: { rows: 9 } },
    { level: 'debug', message: 'asked', fields: { model: 'small' } },
    { level: 'error', message: 'no answer', fields: { cause: failure } },
    { level: 'error', message: 'the model is gone', fields: { cause: failure } },
    { level: 'info', message: 'asked again', fields: {} },
  ]);
});

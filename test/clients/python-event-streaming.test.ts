import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { python } from '../support/python.ts';
import { startServer } from '../support/server.ts';

const PROGRAM = join(import.meta.dirname, 'python_event_streaming.py');

test.runIf(python).for(['sse', 'websocket'])(
  'event streaming of the Python SDK over %s',
  async (transport) => {
    await using server = await startServer();
    const { stdout } = await promisify(execFile)(python as string, [PROGRAM, server.url, transport]);
    expect(JSON.parse(stdout)).toEqual({
      texts: ['t0 t1 t2 t3 t4 '],
      count: 5,
      asked: [{ question: 'ok?' }],
      log: ['a:1', 'b:"yes"'],
      subgraphs: ['top_two'],
    });
  },
);

import { expect, test } from 'vitest';
import { printedBy, python } from '../support/python.ts';
import { startServer } from '../support/server.ts';

test.runIf(python).for(['sse', 'websocket'])(
  'event streaming of the Python SDK over %s',
  async (transport) => {
    await using server = await startServer();
    expect(await printedBy('python_event_streaming.py', server.url, transport)).toEqual({
      texts: ['t0 t1 t2 t3 t4 '],
      count: 5,
      asked: [{ question: 'ok?' }],
      log: ['a:1', 'b:"yes"'],
      subgraphs: ['top_two'],
    });
  },
);

import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { handleInternalCall } from '../../src/http/in-process.ts';
import { bareServer } from '../support/bare-server.ts';

test('an in-process request that is aborted before it reaches its route is not executed', async () => {
  await using server = await bareServer();
  const requests: string[] = [];
  const routing = (raw: IncomingMessage, response: ServerResponse) => {
    requests.push(raw.url ?? '');
    response.end();
  };
  const recording = Object.assign(Object.create(server.server), { routing });
  const abort = new AbortController();
  const call = { method: 'GET', path: '/ok', host: 'localhost', headers: {}, signal: abort.signal };
  const answer = handleInternalCall(recording, call);
  abort.abort(new Error('the caller left'));
  await expect(answer).rejects.toThrow('the caller left');
  expect(requests).toEqual([]);
});

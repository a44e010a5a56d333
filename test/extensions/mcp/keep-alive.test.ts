import { expect, test } from 'vitest';
import { withKeepAlive } from '../../../src/extensions/mcp/http/keep-alive.ts';
import { asJsonIfSingle } from '../../../src/extensions/mcp/http/legacy.ts';

const ANSWER = { jsonrpc: '2.0', id: 1, result: {} };

/** What has come until a text is in it. */
async function readUntil(reader: ReadableStreamDefaultReader<string>, wanted: string): Promise<string> {
  let text = '';
  while (!text.includes(wanted)) text += (await reader.read()).value;
  return text;
}

test('a fast MCP response is sent as plain JSON', async () => {
  const response = Response.json(ANSWER, { status: 400 });
  expect(await withKeepAlive(Promise.resolve(response))).toBe(response);
  await expect(withKeepAlive(Promise.reject(new Error('no')))).rejects.toThrow('no');
});

test.each([
  ['as a message', () => Response.json(ANSWER)],
  [
    'as its stream',
    () =>
      new Response(`event: message\ndata: ${JSON.stringify(ANSWER)}\n\n`, {
        headers: { 'content-type': 'text/event-stream' },
      }),
  ],
])('a late MCP response comes %s, after keep-alives', async (_how, answered) => {
  const answer = Promise.withResolvers<Response>();
  const response = await withKeepAlive(answer.promise, 1);
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
  const reader = (response.body as ReadableStream).pipeThrough(new TextDecoderStream()).getReader();
  await readUntil(reader, ': keepalive\n\n');
  answer.resolve(answered());
  const rest = await readUntil(reader, 'data: ');
  expect(rest).toMatch(
    /^(: keepalive\n\n)*event: message\ndata: \{"jsonrpc":"2.0","id":1,"result":\{\}\}\n\n$/,
  );
  let isDone = false;
  while (!isDone) isDone = (await reader.read()).done;
});

test('a response of the SDK that begins with keep-alives is sent as plain JSON too', async () => {
  const text = `: keepalive\n\n: keepalive\n\nevent: message\ndata: ${JSON.stringify(ANSWER)}\n\n`;
  const parts = (text.match(/.{1,10}/gs) ?? []).map((part) => new TextEncoder().encode(part));
  const stream = new Response(ReadableStream.from(parts) as ReadableStream<Uint8Array<ArrayBuffer>>, {
    headers: { 'content-type': 'text/event-stream' },
  });
  expect(await (await asJsonIfSingle(stream)).json()).toEqual(ANSWER);
});

import { afterAll, beforeAll, expect, test } from 'vitest';
import { mostJsonAtAStretch } from '../support/event-loop-pieces.ts';
import { largeRequests } from '../support/large-requests.ts';
import { DOORS, LARGE, MAX_BODY, MESSAGES, REQUESTS, runOf } from '../support/large-values.ts';

/**
 * The largest body is read or written at most once in a turn, and a message, of an eighth of that, some times: what the
 * libraries of its protocol do comes on top. `npm run bench -- event-loop` measures the time that turns take.
 */
const MOST = 1.1 * MAX_BODY;
const MOST_OF_MESSAGE = 2 * MAX_BODY;
/** An item of a megabyte is read, checked, normalised and printed, which a fast machine does in one turn. */
const MOST_OF_ITEM = 6 * 1024 ** 2;

let client: Awaited<ReturnType<typeof largeRequests>>;
beforeAll(async () => {
  client = await largeRequests();
  // What is done once, such as to learn how messages are revived, is not what each request costs.
  for (const [, path, body, headers] of DOORS)
    await client.post(path, Buffer.from(body('text')), 'POST', headers);
});
afterAll(() => client[Symbol.asyncDispose]());

test.each(
  REQUESTS.flatMap(([what, path, body]) => Object.keys(LARGE).map((kind) => ({ what, path, body, kind }))),
)('$what with a large body of $kind is processed in several turns', async ({ path, body, kind }) => {
  const sent = Buffer.from(body(LARGE[kind] as string));
  const most = await mostJsonAtAStretch(async () => expect(await client.post(path, sent)).toBeLessThan(500));
  expect(most).toBeLessThan(MOST);
});

test('the largest store item is processed in several turns of the event loop, and a body that is too large is not read', async () => {
  const item = `{"value":{"a":${JSON.stringify('word, '.repeat(170_000))}},"namespace":["a"],"key":"k"}`;
  const put = async () => expect(await client.post('/store/items', Buffer.from(item), 'PUT')).toBe(204);
  expect(await mostJsonAtAStretch(put)).toBeLessThan(MOST_OF_ITEM);
  const tooLarge = Buffer.from(runOf(`"${'x'.repeat(5 * 1024 ** 2)}"`));
  const refused = async () => expect(await client.post('/runs/wait', tooLarge)).toBe(413);
  expect(await mostJsonAtAStretch(refused)).toBeLessThan(10_000);
});

test.each(
  DOORS.flatMap(([what, path, body, headers]) =>
    Object.keys(MESSAGES).map((kind) => ({ what, path, body, headers, kind })),
  ),
)('$what with the largest message of $kind is processed in several turns', async (each) => {
  const body = Buffer.from(each.body(each.kind));
  const send = async () => expect(await client.post(each.path, body, 'POST', each.headers)).toBe(200);
  expect(await mostJsonAtAStretch(send)).toBeLessThan(MOST_OF_MESSAGE);
});

test.each(Object.keys(LARGE))(
  'the largest command of %s over a WebSocket is processed in several turns',
  async (kind) => {
    const most = await mostJsonAtAStretch(() => client.command(kind));
    expect(most).toBeLessThan(MOST);
  },
);

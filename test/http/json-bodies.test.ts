import { request } from 'node:http';
import { json } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { bareServer } from '../support/bare-server.ts';
import { naming } from '../support/naming.ts';

/** A server that answers with what reached its service. */
async function mirror(body_limit = 1024 * 1024) {
  const seen: unknown[] = [];
  const keep = async (_actor: unknown, ...args: unknown[]) => {
    seen.push(args.at(-1));
    return args.at(-1);
  };
  const http = await bareServer({
    services: { threads: { create: keep }, assistants: { versions: keep } },
    options: { body_limit },
  });
  return { ...http, seen };
}

function post(payload: string, content_type?: string, url = '/threads') {
  const headers = content_type === undefined ? {} : { 'content-type': content_type };
  return { method: 'POST', url, payload, headers } as const;
}

test.each(['application/json', 'application/json; charset=utf-8', 'text/plain', undefined])(
  'a JSON body is accepted as %s',
  async (content_type) => {
    await using http = await mirror();
    const answer = await http.inject(post('{"metadata":{"a":1}}', content_type));
    expect([answer.statusCode, answer.json()]).toEqual([200, { metadata: { a: 1 }, if_exists: 'raise' }]);
  },
);

test('unknown fields of a body are dropped', async () => {
  await using http = await mirror();
  expect((await http.inject(post('{"from":"the future"}'))).statusCode).toBe(200);
});

test('an empty body counts as none where it is optional', async () => {
  await using http = await mirror();
  const url = '/assistants/echo/versions';
  expect((await http.inject(post('', 'application/json', url))).statusCode).toBe(200);
  expect((await http.inject({ method: 'POST', url })).statusCode).toBe(200);
  expect(http.seen).toEqual([
    { limit: 10, offset: 0 },
    { limit: 10, offset: 0 },
  ]);
});

const nested = (depth: number) => `{"metadata":${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}}`;

describe('is refused with a reason, and reaches no service', () => {
  test.each([
    ['nothing', '', 'Invalid JSON in request body'],
    ['truncated JSON', '{"metadata":', 'Invalid JSON in request body: unexpected end of input'],
    [
      'a comma too much',
      '{"metadata":{},\n}',
      'Invalid JSON in request body: expected double-quoted property name (line 2 column 1)',
    ],
    [
      'more than one value',
      '{} {}',
      'Invalid JSON in request body: unexpected non-whitespace character after JSON (line 1 column 4)',
    ],
    ['a word of JavaScript', 'undefined', 'Invalid JSON in request body: it is not a JSON value'],
    ['a form', 'metadata=1', 'Invalid JSON in request body: unexpected "m"'],
    [
      'NUL as it is',
      '{"metadata":{"a":"\0"}}',
      'Invalid JSON in request body: bad control character in string literal (line 1 column 19)',
    ],
    ['a list', '[]', 'request body: expected object, received array'],
    ['text', '"thread"', 'request body: expected object, received string'],
    ['a wrong type', '{"metadata":"x"}', 'metadata: expected object, received string'],
    ['null for what must not be', '{"metadata":null}', 'metadata: expected object, received null'],
    ['an invalid id', '{"thread_id":"x"}', 'thread_id: must be a UUID'],
    [
      'an unknown choice',
      '{"if_exists":"x"}',
      'if_exists: unknown value "x"; expected one of "raise", "do_nothing"',
    ],
    [
      'a misspelt choice',
      '{"if_exists":"do_nothng"}',
      'if_exists: unknown value "do_nothng" (did you mean "do_nothing"?); expected one of "raise", "do_nothing"',
    ],
    [
      'a long text for a choice',
      JSON.stringify({ if_exists: 'x'.repeat(1000) }),
      'if_exists: expected one of "raise", "do_nothing"',
    ],
    ['10,000 levels', nested(10_000), 'Request body is nested deeper than 500 levels'],
    ['100,000 lists', '['.repeat(100_000), 'Invalid JSON in request body: unexpected end of input'],
    [
      'a prototype',
      '{"metadata":{"__proto__":{"a":1}}}',
      'Request body has a key that is not allowed: __proto__',
    ],
    [
      'a prototype in other letters',
      '{"metadata":{"\\u005f_proto__":{"a":1}}}',
      'Request body has a key that is not allowed: __proto__',
    ],
    [
      "a constructor's prototype",
      '{"metadata":{"constructor":{"prototype":{"a":1}}}}',
      'Request body has a key that is not allowed: constructor',
    ],
  ])('%s', async (_what, payload, detail) => {
    await using http = await mirror();
    const answer = await http.inject(post(payload, 'application/json'));
    expect([answer.statusCode, answer.json()]).toEqual([422, { detail }]);
    expect(http.seen).toEqual([]);
  });
});

test('the response names every invalid field of a body', async () => {
  await using http = await mirror();
  const answer = await http.inject(post('{"thread_id":1,"metadata":[],"ttl":{"ttl":"x"}}'));
  expect(answer.json().detail.split('; ')).toEqual([
    naming('thread_id: ', 'UUID'),
    naming('metadata: ', 'array'),
    naming('ttl.ttl: ', -525_600_000, 525_600_000),
  ]);
});

test('a body may have a property named constructor', async () => {
  await using http = await mirror();
  const answer = await http.inject(post('{"metadata":{"constructor":"Bob"}}'));
  expect(answer.json().metadata).toEqual({ constructor: 'Bob' });
});

test('text that a database cannot store is replaced in a body, in keys too', async () => {
  await using http = await mirror();
  await http.inject(
    post('{"metadata":{"a\\u0000":"b\\u0000c","d":["\\ud800"],"e":"\\\\u0000 \\ud83d\\ude00"}}'),
  );
  expect(http.seen).toMatchObject([{ metadata: { 'a\uFFFD': 'b\uFFFDc', d: ['\uFFFD'], e: '\\u0000 😀' } }]);
});

test('a body nested 500 levels deep is accepted', async () => {
  await using http = await mirror();
  expect((await http.inject(post(nested(498)))).statusCode).toBe(200);
});

/** As a client that writes everything before it reads. */
function upload(url: string, bytes: number, headers: Record<string, string>): Promise<[number, unknown]> {
  return new Promise((resolve, reject) => {
    const upload = request(`${url}/threads`, { method: 'POST', headers }, (response) => {
      json(response).then((body) => resolve([response.statusCode ?? 0, body]), reject);
    });
    upload.on('error', reject);
    upload.end(Buffer.alloc(bytes, ' '));
  });
}

test.each([
  ['announced', { 'content-length': String(20_000_000) }],
  ['in chunks', { 'transfer-encoding': 'chunked' }],
])('a body that is too large is refused, with its size %s', async (_how, headers) => {
  await using http = await mirror(100_000);
  expect(await upload(await http.listen(), 20_000_000, headers)).toEqual([
    413,
    { detail: naming(100_000, 'server.body_limit') },
  ]);
  expect(http.seen).toEqual([]);
});

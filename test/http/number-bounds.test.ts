import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { naming } from '../support/naming.ts';
import { type Document, type RequestNumber, requestNumbers, withValue } from '../support/request-numbers.ts';

const DOCUMENT = join(import.meta.dirname, '../../openapi/openapi.json');
const KEY = { 'x-api-key': 'key-of-this-test' };

/** Ids of messages only come back with the answer: nothing is computed from them. */
const ECHOED = ['protocol_thread_command_post: id', 'mcp: id', 'send_agent_message: id'];

/** What no test can wait for: a run that is due in a hundred years, and a stream that never ends. */
const ENDLESS = /^((wait|stream)_\w+: after_seconds|protocol_thread_events_post: \w+)$/;

/** 404 where there are no so many: the number is fine. */
const SPARSE = /^(search_assistant_versions: offset|set_latest_assistant_version: version)$/;

const numbers = requestNumbers(JSON.parse(readFileSync(DOCUMENT, 'utf8')) as Document)
  .map((number) => ({ ...number, name: `${number.operation}: ${number.keys.join('.')}` }))
  .filter(({ name }) => !ECHOED.includes(name));

const http = await openApp({
  graphs: ['echo'],
  environment: { AGENT_SERVER_API_KEYS: KEY['x-api-key'] },
  // The document shows the largest that any server may allow.
  runs: { max_recursion_limit: 2 ** 31 - 1 },
  // Without prices no cost can be limited.
  usage: { prices: { 'a-model': { in: 1, out: 1 } } },
});
afterAll(() => http[Symbol.asyncDispose]());

const post = async (url: string, body: object) => (await http.post(url, body, KEY)).body;

/** Fresh rows for the ids in the path. */
async function addressOf(path: string): Promise<string> {
  const cron = { assistant_id: 'echo', schedule: '0 0 1 1 *' };
  let thread_id: string | undefined;
  const thread = async (): Promise<string> => {
    thread_id ??= (await post('/threads', {})).thread_id as string;
    return thread_id;
  };
  const ids: Record<string, () => Promise<string>> = {
    thread_id: thread,
    run_id: async () => (await post(`/threads/${await thread()}/runs`, { assistant_id: 'echo' })).run_id,
    assistant_id: async () => (await post('/assistants', { graph_id: 'echo' })).assistant_id,
    cron_id: async () => (await post('/runs/crons', cron)).cron_id,
  };
  let address = path;
  for (const [place, name = ''] of path.matchAll(/\{(\w+)\}/g)) {
    address = address.replace(place, (await ids[name]?.()) ?? 'nothing');
  }
  return address;
}

/** The example of the document with another number. `text`: as it is written in the request. */
async function send({ method, path, place, keys, example }: RequestNumber, text: string) {
  const url = await addressOf(path);
  if (place === 'query') return http.send(method, `${url}?${keys[0]}=${text}`, example, KEY);
  const marker = '"the number"';
  const { thread_id: _, run_id: __, ...fresh } = example as Record<string, unknown>;
  const body = JSON.stringify(withValue(Array.isArray(example) ? example : fresh, keys, 'the number'));
  return http.send(method, url, body.replace(marker, text), KEY);
}

test('every number of a request has a minimum and a maximum in the OpenAPI document', () => {
  const unbounded = numbers.filter(({ min, max }) => min === undefined || max === undefined);
  expect(unbounded.map(({ name }) => name)).toEqual([]);
  expect(numbers.length).toBeGreaterThan(40);
});

describe.each(numbers)('$name', (number) => {
  const { name, min = 0, max = 0, place } = number;
  const beyond = [String(min - 1), String(max + 1), '1e300', ...(place === 'body' ? ['-1e300'] : [])];

  test.each(beyond)('refuses %s and names the bounds', async (text) => {
    const { status, body } = await send(number, text);
    const bounds = `from ${min} to ${max}`;
    // Event streaming answers 400 (contract §7).
    const refused = name.startsWith('protocol_thread_events') ? 400 : 422;
    expect([status, body.detail]).toEqual([refused, expect.stringContaining(bounds)]);
    expect(body.detail.split(bounds)).toHaveLength(2);
  });

  test.each(ENDLESS.test(name) ? [] : [min, max])('accepts %d', async (value) => {
    const { status, body } = await send(number, String(value));
    const fine = [200, 204, ...(SPARSE.test(name) ? [404] : [])];
    expect(fine, body?.detail).toContain(status);
    // The graph takes two steps, which is more than the smallest `recursion_limit`.
    const failures = http.log.filter(({ level, message }) => level === 'error' && message !== 'run failed');
    expect(failures).toEqual([]);
  });
});

test('a command of event streaming with a number out of bounds is refused with the bounds', async () => {
  const { thread_id } = await post('/threads', {});
  const command = { id: 1, method: 'state.listCheckpoints', params: { limit: 1001 } };
  expect(await post(`/threads/${thread_id}/commands`, command)).toMatchObject({
    error: 'invalid_argument',
    message: naming(1, 1000),
  });
});

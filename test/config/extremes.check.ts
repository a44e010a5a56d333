import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import Database from 'better-sqlite3';
import { Agent, fetch } from 'undici';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { configKeys } from '../../src/config/reference.ts';
import { openApp } from '../support/app.ts';
import { configNumbers, setKey } from '../support/config-numbers.ts';
import { project } from '../support/project.ts';
import { onPromptMachine } from '../support/prompt-machine.ts';
import { type Receiver, receiver } from '../support/receiver.ts';
import { startServer } from '../support/server.ts';
import { until } from '../support/until.ts';

const FIXTURES = resolve(import.meta.dirname, '../fixtures');

/** Keys that are left out of this test or have another value here, and why. */
const APART: Record<string, { value: unknown; why: string }> = {
  'server.port': { value: 0, why: 'a name, not an amount; the largest may be taken' },
  'hosts.count': { value: 0, why: 'each is a process, and the largest number needs the largest machine' },
  'webhooks.url.allowed_ports.*': { value: undefined, why: 'names, not amounts; the receiver has another' },
};
const APART_AT_MIN: typeof APART = {
  'assistants.*.recursion_limit': { value: 2, why: 'LangGraph counts one step more than the graph has' },
  'runs.concurrency': { value: 1, why: '0 executes no runs' },
  'runs.budgets.thread.max_steps': { value: undefined, why: 'the second run is refused' },
  'runs.budgets.user_day.max_steps': { value: undefined, why: 'the same' },
  'runs.budgets.day.max_steps': { value: undefined, why: 'the same' },
  'server.rate_limit': { value: undefined, why: 'the second request is refused' },
  'server.rate_limit.per_address_per_minute': { value: undefined, why: 'the same' },
  'server.rate_limit.per_key_per_minute': { value: undefined, why: 'the same' },
  'checkpointer.ttl.default_ttl': { value: 60, why: 'a thread would be gone before it is looked at' },
  'webhooks.url.max_url_length': { value: 100, why: 'no address has one character' },
};

type Bound = 'min' | 'max';

/** A configuration whose numbers are all at one of their bounds. */
function extreme(bound: Bound): string {
  const document = {
    graphs: { counter: `${FIXTURES}/graphs/counter.ts:graph` },
    auth: { path: `${FIXTURES}/auth/auth.ts:auth`, cache: { cache_keys: ['authorization'] } },
    store: { index: { embed: `${FIXTURES}/extremes/embed.ts:${bound}` } },
    webhooks: { url: { disable_loopback: false } },
  };
  for (const { key, [bound]: value } of configNumbers()) {
    const apart = APART[key] ?? (bound === 'min' ? APART_AT_MIN[key] : undefined);
    const given = apart ? apart.value : value;
    if (given !== undefined) setKey(document, key.replace('assistants.*', 'assistants.counter'), given);
  }
  return JSON.stringify(document);
}

/** Sends a request; resolves to its status and text. */
type Call = (method: 'GET' | 'POST' | 'PUT', path: string, body?: object) => Promise<[number, string]>;

const HEADERS = { authorization: 'Bearer alice-token' };

/** One run, one stream, one delayed run with a webhook, and an item of the store. `whileWaiting`: for the run. */
async function useEverything(
  call: Call,
  hook: Receiver,
  whileWaiting: (run: Promise<unknown>) => Promise<void>,
) {
  const thread_id = randomUUID();
  const run = { assistant_id: 'counter', input: { add: 1 }, if_not_exists: 'create' };
  const runs = `/threads/${thread_id}/runs`;
  expect(await call('POST', `${runs}/wait`, run)).toEqual([200, expect.stringContaining('"total":1')]);

  const [status, events] = await call('POST', `${runs}/stream`, { ...run, stream_resumable: true });
  expect([status, events]).toEqual([200, expect.stringContaining('"total":2')]);
  expect(events).not.toContain('event: error');

  const delayed = call('POST', `${runs}/wait`, { ...run, after_seconds: 1, webhook: `${hook.url}/ended` });
  await whileWaiting(delayed);
  expect(await delayed).toEqual([200, expect.stringContaining('"total":3')]);
  const listed = JSON.parse((await call('GET', runs))[1]) as { status: string }[];
  expect(listed.map((each) => each.status)).toEqual(['success', 'success', 'success']);

  const item = { namespace: ['memories'], key: 'k', value: { text: 'tea' }, ttl: 5 };
  expect(await call('PUT', '/store/items', item)).toEqual([204, '']);
  const found = await call('POST', '/store/items/search', { namespace_prefix: ['memories'], query: 'sea' });
  expect(found).toEqual([200, expect.stringContaining('"tea"')]);
}

/** Counts the statements that this process sends to SQLite from now on. */
function countStatements(): () => number {
  const database = new Database(':memory:');
  const statement = Object.getPrototypeOf(database.prepare('select 1')) as Database.Statement;
  database.close();
  const spies = (['all', 'get', 'run'] as const).map((verb) => vi.spyOn(statement, verb));
  return () => spies.reduce((sum, { mock }) => sum + mock.calls.length, 0);
}

/** What should not be in a log. The receiver of a webhook may miss the smallest `timeout_seconds` and is asked again. */
function complaints(log: readonly { level: string; message: string }[]) {
  return log.filter(
    ({ level, message }) => /warn|error/.test(level) && message !== 'webhook failed, retrying',
  );
}

const warnings: Error[] = [];
const onWarning = (warning: Error) => warnings.push(warning);
process.on('warning', onWarning);
afterAll(() => {
  process.off('warning', onWarning);
  vi.restoreAllMocks();
});

test('every number has a minimum, a maximum and a place in the documentation', () => {
  const numbers = configNumbers();
  const unbounded = numbers.filter(
    ({ min, max }) =>
      !Number.isSafeInteger(Math.ceil(min ?? Number.NaN)) || !(Number(max) < Number.MAX_SAFE_INTEGER),
  );
  expect(unbounded).toEqual([]);
  const described = configKeys().filter(({ range }) => range !== undefined);
  const keys = numbers.map(({ key }) => key.replace(/allowed_ports\.\*$/, 'allowed_ports'));
  expect(keys.filter((key) => !/rate_limit\.\w+$/.test(key)).sort()).toEqual(
    described.map(({ key }) => key).sort(),
  );
});

/** Half of the smallest time that a server waits for a request, or for the receiver of a webhook, ms. */
const LATE_MS = 50;

describe.each<[string, Bound]>([
  ['minimum', 'min'],
  ['maximum', 'max'],
])('a server with every number at its %s', (_name, bound) => {
  const promptly = (name: string, story: () => Promise<void>) =>
    test(name, () => onPromptMachine(LATE_MS, story), 300_000);

  promptly('executes runs, and no loop spins', async () => {
    await using folder = await project({ 'agent.config.yaml': extreme(bound) });
    await using hook = await receiver();
    await using http = await openApp({ graphs: ['counter'], folder: folder.root });
    const statements = countStatements();
    const call: Call = async (method, path, body) => {
      const { status, text } = await http.send(method, path, body, HEADERS);
      return [status, text];
    };

    await useEverything(call, hook, async (run) => {
      const before = statements();
      await run;
      const sent = statements() - before;
      expect(sent).toBeGreaterThan(5);
      // The run waits a second before it starts. A loop that does not rest comes to thousands meanwhile.
      expect(sent).toBeLessThan(1000);
    });
    await hook.came(1);

    expect(complaints(http.log)).toEqual([]);
    expect(warnings.map(({ name }) => name)).toEqual([]);
  });

  promptly('starts, serves and stops as a process', async () => {
    await using folder = await project({ 'agent.config.yaml': extreme(bound) });
    await using hook = await receiver();
    await using server = await startServer({ config: folder.path('agent.config.yaml') });
    // One connection is all that the smallest `max_connections` allows.
    const dispatcher = new Agent({ connections: 1 });
    const call: Call = async (method, path, body) => {
      const payload = body && { body: JSON.stringify(body) };
      const answer = await fetch(server.url + path, { method, headers: HEADERS, ...payload, dispatcher });
      return [answer.status, await answer.text()];
    };

    await useEverything(call, hook, async (run) => void (await run));
    await hook.came(1);
    await dispatcher.close();

    expect(await server.kill('SIGTERM')).toBe(0);
    expect(server.errors).not.toMatch(/Warning/);
    expect(complaints(server.log)).toEqual([]);
  });
});

test('with a default_ttl of 0, a thread is deleted when its runs end', async () => {
  const ttl = { default_ttl: 0, sweep_interval_minutes: 0.01 };
  const environment = { LANGGRAPH_CHECKPOINTER: JSON.stringify({ ttl }) };
  await using http = await openApp({ graphs: ['counter'], environment });
  const thread = `/threads/${randomUUID()}`;
  // Longer than the time between two sweeps.
  const run = { assistant_id: 'counter', input: { add: 1 }, if_not_exists: 'create', after_seconds: 0.7 };
  expect((await http.post(`${thread}/runs/wait`, run)).body).toMatchObject({ total: 1 });
  await until('the thread is gone', async () => (await http.get(thread)).status === 404);
});

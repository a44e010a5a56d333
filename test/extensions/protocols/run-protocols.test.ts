import { resolve } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { message, rpcTo } from '../../support/a2a.ts';
import { openApp } from '../../support/app.ts';
import { type Answer, type Place, RUN_DOORS, type RunDoor } from '../../support/run-protocols.ts';

type Headers = Record<string, string>;
type Server = Place['server'];

const folder = resolve(import.meta.dirname, '../../fixtures/auth');
const as = (token: string): Headers => ({ authorization: `Bearer ${token}` });
const OPERATOR = { 'x-api-key': 'operator' };
const MARK = 'only-for-its-owner';

/** A refusal in the words of each protocol. */
type Refusals = Readonly<Record<RunDoor['says'], readonly [status: number | RegExp, said: RegExp]>>;
const FORBIDDEN: Refusals = {
  status: [403, /Forbidden/],
  rpc: [403, /Forbidden/],
  command: [200, /"type":"error".*"error":"permission_denied"/],
  tool: [200, /"Forbidden".*"isError":true/],
};
const MISSING: Refusals = {
  status: [/^40[04]$/, /not found/i],
  rpc: [200, /"error":\{"code":-32.*not found/],
  command: [200, /"type":"error".*(not found|has run on this thread)|^Thread with ID \S+ not found$/],
  tool: [200, /not found.*"isError":true/],
};

/** A thread of somebody that waits for an answer, a cron on it, and a task of an agent. */
async function somebodys(server: Server, owner: Headers): Promise<Place> {
  const thread_id = (await server.post('/threads', { metadata: { mark: MARK } }, owner)).body.thread_id;
  const input = { log: [MARK] };
  const run = { assistant_id: 'interrupting', input };
  await server.post(`/threads/${thread_id}/runs/wait`, run, owner);
  const state = (await server.get(`/threads/${thread_id}/state`, owner)).body;
  const cron = { ...run, schedule: '0 0 1 1 *' };
  const { cron_id } = (await server.post(`/threads/${thread_id}/runs/crons`, cron, owner)).body;
  const task = { message: message({ log: [MARK] }) };
  const { result } = await rpcTo(server, 'interrupting')('SendMessage', task, owner);
  return {
    server,
    url: (await server.app.listen()).url,
    thread_id,
    checkpoint_id: state.checkpoint.checkpoint_id,
    interrupt_id: state.tasks[0].interrupts[0].id,
    cron_id,
    task_id: result.task.id,
  };
}

/** All there is, as whoever may see everything sees it. */
async function everything({ post, get }: Server) {
  const threads: { thread_id: string }[] = (await post('/threads/search', { limit: 100 }, OPERATOR)).body;
  const runs = await Promise.all(
    threads.map(async ({ thread_id }) => (await get(`/threads/${thread_id}/runs`, OPERATOR)).body),
  );
  return { threads, runs, crons: (await post('/runs/crons/search', {}, OPERATOR)).body };
}

function check({ status, text }: Answer, [wanted, said]: readonly [number | RegExp, RegExp]) {
  expect([String(status), text]).toEqual([
    expect.stringMatching(typeof wanted === 'number' ? String(wanted) : wanted),
    expect.stringMatching(said),
  ]);
  expect(text).not.toContain(MARK);
}

/** Handlers of the fixtures, and somebody's things. */
async function open(handlers: string, owner: Headers): Promise<Place> {
  const environment = {
    AGENT_SERVER_API_KEYS: 'operator',
    LANGGRAPH_AUTH: JSON.stringify({ path: handlers }),
  };
  const http = { openai: { enabled: true } };
  return somebodys(await openApp({ graphs: ['interrupting'], folder, environment, http }), owner);
}

let place: Place;
let before: object;
beforeEach(async () => {
  before = await everything(place.server);
});

describe('a user who may do everything except create runs', () => {
  beforeAll(async () => {
    place = await open('./limits.ts:auth', as('maker'));
  });
  afterAll(() => place.server[Symbol.asyncDispose]());

  test.each(RUN_DOORS)('creates no run through $name', async ({ says, knock }) => {
    check(await knock(place, as('watcher')), FORBIDDEN[says]);
    expect(await everything(place.server)).toEqual(before);
  });
});

describe('on a thread of another user', () => {
  const ALICE = as('alice-token');
  const BOB = as('bob-token');
  beforeAll(async () => {
    place = await open('./auth.ts:auth', ALICE);
  });
  afterAll(() => place.server[Symbol.asyncDispose]());

  test.each(RUN_DOORS.filter(({ onThread }) => onThread))(
    'no run can be created through $name',
    async (door) => {
      check(await door.knock(place, BOB), MISSING[door.says]);
      expect(await everything(place.server)).toEqual(before);
    },
  );

  test.each(['do_nothing', 'raise'])(
    'creating the thread with if_exists %s gives no access',
    async (if_exists) => {
      const { server, thread_id } = place;
      const metadata = { owner: 'bob' };
      const answer = await server.post('/threads', { thread_id, if_exists, metadata }, BOB);
      check(answer, [409, /already exists/]);
      expect(await everything(server)).toEqual(before);
      // Its owner does.
      const own = await server.post('/threads', { thread_id, if_exists: 'do_nothing' }, ALICE);
      expect(own.body).toMatchObject({ thread_id, metadata: { mark: MARK, owner: 'alice' } });
    },
  );
});

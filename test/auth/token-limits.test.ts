import { afterAll, describe, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';

const OPERATOR = { 'x-api-key': 'operator' };
const http = await openApp({
  graphs: ['zod-state', 'chat'],
  environment: { AGENT_SERVER_API_KEYS: 'operator' },
});
afterAll(() => http[Symbol.asyncDispose]());

async function token(grant: object) {
  const { body } = await http.post('/auth/tokens', grant, OPERATOR);
  return { authorization: `Bearer ${body.token}` };
}

const make = async (path: string, body: object, headers: Record<string, string> = OPERATOR) =>
  (await http.post(path, body, headers)).body;

describe('a token for a thread', () => {
  async function twoAssistants() {
    const config = { configurable: { secret: 'of the operator' } };
    const { assistant_id: used } = await make('/assistants', { graph_id: 'zod-state', config });
    const { assistant_id: other } = await make('/assistants', { graph_id: 'zod-state', config });
    const { thread_id } = await make('/threads', {});
    await make(`/threads/${thread_id}/runs/wait`, { assistant_id: used, input: { topic: 'tea' } });
    return { used, other, thread_id };
  }

  test('can read only system assistants and the assistant that ran on its thread', async () => {
    const { used, other, thread_id } = await twoAssistants();
    const headers = await token({ thread_id });
    const reads = (id: string) => [
      http.get(`/assistants/${id}`, headers),
      http.get(`/assistants/${id}/graph`, headers),
      http.post(`/assistants/${id}/versions`, {}, headers),
    ];
    const statuses = async (id: string) => (await Promise.all(reads(id))).map(({ status }) => status);
    expect(await statuses('zod-state')).toEqual([200, 200, 200]);
    expect(await statuses(used)).toEqual([200, 200, 200]);
    expect(await statuses(other)).toEqual([404, 404, 404]);
  });

  test('gives no access to another assistant through a run or the metadata of the thread', async () => {
    const { used, other, thread_id } = await twoAssistants();
    const headers = await token({ thread_id });
    const run = (assistant_id: string) =>
      http.post(`/threads/${thread_id}/runs/wait`, { assistant_id, input: { topic: 'tea' } }, headers);
    await http.patch(`/threads/${thread_id}`, { metadata: { assistant_id: other } }, headers);
    expect((await http.get(`/assistants/${other}`, headers)).status).toBe(404);
    expect((await run(other)).status).toBe(404);
    expect((await http.get(`/assistants/${other}`, headers)).status).toBe(404);
    expect([(await run(used)).status, (await run('zod-state')).status]).toEqual([200, 200]);
  });

  test('that also names an assistant works with that assistant', async () => {
    const { other, thread_id } = await twoAssistants();
    const { thread_id: fresh } = await make('/threads', {});
    await make(`/threads/${fresh}/runs/wait`, { assistant_id: other, input: { topic: 'tea' } });
    const headers = await token({ thread_id: fresh, assistant_id: other });
    expect((await http.get(`/assistants/${other}`, headers)).status).toBe(200);
    const run = { assistant_id: other, input: { topic: 'tea' } };
    expect((await http.post(`/threads/${fresh}/runs/wait`, run, headers)).status).toBe(200);
    expect((await http.post(`/threads/${thread_id}/runs/wait`, run, headers)).status).toBe(403);
  });
});

describe('a token without a user never becomes the owner of a row', () => {
  const metadata = { owner: 'ann', note: 'kept' };
  const run = { assistant_id: 'chat', input: { messages: 'hi' }, metadata, config: { metadata } };
  const events = { id: 1, method: 'run.start', params: run };
  const id = () => crypto.randomUUID();

  test.each<[door: string, path: () => string, body: object]>([
    ['a thread', () => '/threads', { metadata }],
    ['a run that makes its thread', () => `/threads/${id()}/runs/wait`, { ...run, if_not_exists: 'create' }],
    ['a stateless run', () => '/runs/wait', { ...run, on_completion: 'keep' }],
    ['a stateless run that is streamed', () => '/runs/stream', { ...run, on_completion: 'keep' }],
    ['a batch', () => '/runs/batch', [{ ...run, on_completion: 'keep' }]],
    ['a command of event streaming', () => `/threads/${id()}/commands`, events],
  ])('by %s', async (_door, path, body) => {
    const headers = await token({ assistant_id: 'chat' });
    const answer = await http.post(path(), body, headers);
    expect(answer.status).toBe(200);
    expect(await make('/threads/search', {}, await token({ user: 'ann' }))).toEqual([]);
    const owned = { metadata: { owner: 'ann' } };
    expect(await make('/threads/search', owned)).toEqual([]);
  });

  test('by updating a thread: the owner is kept, and the other metadata changes', async () => {
    const jane = await token({ user: 'jane' });
    const { thread_id } = await make('/threads', {}, jane);
    await make(`/threads/${thread_id}/runs/wait`, { assistant_id: 'chat', input: { messages: 'hi' } }, jane);
    for (const grant of [{ assistant_id: 'chat' }, { thread_id }]) {
      const headers = await token(grant);
      for (const owner of ['ann', null]) {
        const changed = await http.patch(
          `/threads/${thread_id}`,
          { metadata: { ...metadata, owner } },
          headers,
        );
        expect(changed.body.metadata).toMatchObject({ owner: 'jane', note: 'kept' });
      }
    }
    expect((await http.get(`/threads/${thread_id}`, jane)).status).toBe(200);
  });
});

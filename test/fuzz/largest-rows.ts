import type { RunSteps } from '../../src/schemas/steps.ts';
import type { HttpClient } from '../support/http-client.ts';

/** A little less than the largest metadata, item and state that a request may bring. */
const METADATA = { kind: { is: 'large' }, title: 'a'.repeat(1000), text: 'word '.repeat(100_000) };
const ITEM = { z: 1, half: 1, text: `${'word '.repeat(4000)}${'x'.repeat(900_000)}` };
const STATE = { x: 1, text: 'y'.repeat(2_000_000) };
/** The contents of a model's call with them are as large as contents can be. */
const MESSAGES = Array.from({ length: 1000 }, (_, n) => ({ role: 'user', content: `${n} `.repeat(500) }));

/** Makes a task whose state is large. */
function message(n: number) {
  const parts = [{ data: { text: 'y'.repeat(500_000), x: n } }];
  return {
    jsonrpc: '2.0',
    id: n,
    method: 'SendMessage',
    params: { message: { messageId: `m${n}`, role: 'ROLE_USER', parts } },
  };
}

/** Ids for the parameters of paths, of rows that are as large as requests can make them. */
export async function insertLargest(client: HttpClient, rows: number): Promise<Record<string, string>> {
  const kept_thread_id = (await client.call<{ thread_id: string }>('POST', '/threads', {})).thread_id;
  const ids: Record<string, string> = {
    namespace: 'none',
    checkpoint_id: 'none',
    model: 'echo',
    kept_thread_id,
  };
  // Loads the library, which takes a while.
  await client.call('POST', '/mcp/', { jsonrpc: '2.0', id: 1, method: 'tools/list' });
  for (let n = 0; n < rows; n++) {
    const { thread_id } = await client.call<{ thread_id: string }>('POST', '/threads', {
      metadata: METADATA,
    });
    const { run_id } = await client.call<{ run_id: string }>('POST', `/threads/${thread_id}/runs`, {
      assistant_id: 'echo',
      input: STATE,
      metadata: METADATA,
    });
    await client.call('GET', `/threads/${thread_id}/runs/${run_id}/join`);
    await client.call('PUT', '/store/items', { namespace: ['notes'], key: `${n}`, value: ITEM });
    await client.call('POST', '/a2a/echo', message(n));
    if (n % 4 > 0) continue;
    const assistant = { graph_id: 'echo', metadata: METADATA };
    const { assistant_id } = await client.call<{ assistant_id: string }>('POST', '/assistants', assistant);
    const cron = { assistant_id: 'echo', schedule: '0 0 1 1 *', metadata: METADATA };
    const { cron_id } = await client.call<{ cron_id: string }>('POST', '/runs/crons', cron);
    Object.assign(ids, { assistant_id, cron_id });
  }
  return { ...ids, ...(await insertConversation(client)) };
}

/** A run with steps and with a delivery that is never made. */
async function insertConversation(client: HttpClient): Promise<Record<string, string>> {
  const { thread_id } = await client.call<{ thread_id: string }>('POST', '/threads', { metadata: METADATA });
  const at = `/threads/${thread_id}/runs`;
  const { run_id } = await client.call<{ run_id: string }>('POST', at, {
    assistant_id: 'conversing',
    input: { messages: MESSAGES },
    webhook: 'http://127.0.0.1:9/',
  });
  await client.call('GET', `${at}/${run_id}/join`);
  const { steps } = await client.call<RunSteps>('GET', `${at}/${run_id}/steps`);
  const model = steps.find(({ kind }) => kind === 'model') as RunSteps['steps'][number];
  const step_id = `${model.attempt}.${model.number}`;
  const [delivery] = await client.call<{ delivery_id: string }[]>(
    'GET',
    `/webhooks/deliveries?run_id=${run_id}`,
  );
  return { thread_id, run_id, step_id, delivery_id: (delivery as { delivery_id: string }).delivery_id };
}

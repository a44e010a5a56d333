import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import type { UsageReport } from '../../src/extensions/usage/schemas.ts';
import { type DeploymentServerOptions, openDeploymentServer } from '../support/deployments.ts';
import { TEST_KEY } from '../support/encryption.ts';
import { agentServer } from '../support/program.ts';
import { rowsOf } from '../support/rows-of.ts';

const NEW_KEY = 'YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXoxMjM0NTY=';
const SPENDER = resolve(import.meta.dirname, '../fixtures/usage/spender.ts');

const GRAPHS = { spender: `${SPENDER}:graph` };
const ON = { config: { graphs: GRAPHS } };
const OFF = { deployments: { enabled: false }, config: { graphs: GRAPHS, runs: { record: 'off' } } };

/** A server whose database and configuration are those of the ones before it. */
async function startedIn(folder: string | undefined, key: string, options: DeploymentServerOptions) {
  const environment = { LANGGRAPH_AES_KEY: key };
  return openDeploymentServer({ ...options, environment, ...(folder !== undefined && { folder }) });
}

async function rotate(folder: string, url: string, old: Record<string, string>): Promise<void> {
  const config = join(folder, 'agent.config.yaml');
  const env = { DATABASE_URI: url, LANGGRAPH_AES_KEY: NEW_KEY, ...old };
  const ended = await agentServer(['encryption', 'rotate', '--config', config], { cwd: folder, env });
  expect(ended).toMatchObject({ code: 0 });
}

function refersTo(rows: readonly string[] | undefined, ids: readonly string[]): boolean {
  return rows?.some((row) => ids.some((id) => row.includes(id))) === true;
}

test('switched off and on again, usage and deployments have their data, but for a thread deleted and in a key rotated meanwhile', async () => {
  const first = await startedIn(undefined, TEST_KEY, ON);
  const { folder } = first;
  const spend = async (server: typeof first) => {
    const thread_id: string = (await server.post('/threads')).body.thread_id;
    const body = { assistant_id: 'spender', input: { calls: ['small'] } };
    expect((await server.post(`/threads/${thread_id}/runs/wait`, body)).status).toBe(200);
    const [{ run_id }] = (await server.get(`/threads/${thread_id}/runs`)).body;
    return { thread_id, run_id };
  };
  const usageOf = async (server: typeof first, { thread_id }: { thread_id: string }) =>
    server.get(`/threads/${thread_id}/usage`);
  try {
    const [kept, deleted] = [await spend(first), await spend(first)];
    const { id } = await first.create('kept', { secrets: [{ name: 'TOKEN', value: 'of the deployment' }] });
    const usage = await usageOf(first, kept);
    expect(usage).toMatchObject({ status: 200, body: { calls: 1, tokens_in: 70, tokens_out: 30 } });
    await first.close();

    const off = await startedIn(folder, TEST_KEY, OFF);
    expect((await off.get('/v2/deployments')).status).toBe(404);
    expect((await off.get('/usage')).status).toBe(404);
    expect((await off.send('DELETE', `/threads/${deleted.thread_id}`)).status).toBe(204);
    const uncounted = await spend(off);
    await off.close();
    const left = await rowsOf(off.config.storage.url);
    const referring = Object.keys(left).filter((table) => refersTo(left[table], Object.values(deleted)));
    // Usage outlives its threads.
    expect(referring).toEqual(['usage_key_entries']);
    await rotate(folder, off.config.storage.url, { LANGGRAPH_AES_FALLBACK_KEYS: TEST_KEY });
    // Without the old key, nothing that it encrypted would be readable.
    await rotate(folder, off.config.storage.url, {});

    const again = await startedIn(folder, NEW_KEY, ON);
    expect((await usageOf(again, kept)).body).toEqual(usage.body);
    expect((await usageOf(again, deleted)).status).toBe(404);
    expect((await usageOf(again, uncounted)).body).toMatchObject({ calls: 0 });
    const report: UsageReport = (await again.get('/usage')).body;
    expect(report.groups).toMatchObject([{ calls: 2, tokens_in: 140 }]);
    const { body } = await again.get(`/v2/deployments/${id}`);
    expect(body).toMatchObject({ name: 'kept', secrets: [{ name: 'TOKEN' }] });
    await again.close();
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  }
});

import { join } from 'node:path';
import { expect, test } from 'vitest';
import { httpClient } from '../support/http-client.ts';
import { startServer } from '../support/server.ts';
import { describeEachPlace } from '../support/storage-places.ts';
import { until } from '../support/until.ts';

const CONFIG = join(import.meta.dirname, 'agent.config.yaml');
const LENGTH = 200;

describeEachPlace('a server that is killed while it imports a long history', (place) => {
  test('starts no run on a part of it, and imports it whole when it is sent again', async () => {
    await using server = await startServer({ config: CONFIG, env: { DATABASE_URI: await place() } });
    using http = httpClient(server.url);
    const thread_id = crypto.randomUUID();
    const at = `/threads/${thread_id}`;
    const body = {
      thread_id,
      metadata: { graph_id: 'echo' },
      if_exists: 'do_nothing',
      supersteps: Array.from({ length: LENGTH }, (_, n) => ({
        updates: [{ values: { x: n, log: [`${n}`] }, as_node: 'a' }],
      })),
    };
    const state = async () => (await http.send('GET', `${at}/state`)).body as { values?: { log?: string[] } };
    const imported = http.send('POST', '/threads', { body }).catch(() => undefined);
    await until('a part is imported', async () => ((await state()).values?.log?.length ?? 0) > 5);
    await server.kill('SIGKILL');
    await imported;

    await server.restart();
    const length = (await state()).values?.log?.length;
    expect(length).toBeLessThan(LENGTH);
    const run = { assistant_id: 'echo', input: { x: 1 } };
    expect(await http.send('POST', `${at}/runs`, { body: run })).toMatchObject({ status: 409 });

    expect(await http.send('POST', '/threads', { body })).toMatchObject({ status: 200 });
    const { values } = await state();
    expect(values?.log).toEqual(Array.from({ length: LENGTH }, (_, n) => `${n}`));
    expect(await http.send('POST', `${at}/runs/wait`, { body: run })).toMatchObject({ status: 200 });
    expect(await server.kill('SIGTERM')).toBe(0);
  });
});

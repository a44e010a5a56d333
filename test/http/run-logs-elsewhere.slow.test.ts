import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openAppOfProcesses } from '../support/app-of-processes.ts';
import { makeDataFolder } from '../support/data-folder.ts';
import { TEST_POSTGRES_URI } from '../support/postgres-schema.ts';

test.runIf(TEST_POSTGRES_URI)(
  'followers on other processes get the last lines of a run without a thread',
  async () => {
    await using server = await openAppOfProcesses({ graphs: ['prints'] });
    const { url } = await server.app.listen();
    const gate = join(await makeDataFolder(), 'gate');
    const created = await fetch(`${url}/runs`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ assistant_id: 'prints', input: { what: 'each_method', gate } }),
    });
    const { run_id } = (await created.json()) as { run_id: string };

    // Requests reach the two processes in turn, and neither executes runs.
    const follow = () => fetch(`${url}/runs/${run_id}/logs?stream=1`);
    const followers = (await Promise.all([follow(), follow()])).map(async ({ body }) => {
      let text = '';
      for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
        text += chunk;
        if (text.includes('an error line')) writeFileSync(gate, '');
      }
      return text;
    });
    for (const text of await Promise.all(followers)) {
      expect(text.match(/^id: \d+/gm)).toEqual([1, 2, 3, 4, 5, 6, 6].map((id) => `id: ${id}`));
      expect(text).toContain('"message":"after the gate"');
    }
    expect((await fetch(`${url}/runs/${run_id}/logs`)).status).toBe(404);
  },
);

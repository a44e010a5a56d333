import { expect, test } from 'vitest';
import { TEST_KEY } from '../support/encryption.ts';
import { CONFIG, describeEachKeeper, everyFeature, remembered } from '../support/every-feature/servers.ts';
import { secret, secretsIn, talkTo } from '../support/every-feature/talk.ts';
import { agentServer } from '../support/program.ts';
import { receiver } from '../support/receiver.ts';
import { storedText, vacuum } from '../support/stored-text.ts';
import { until } from '../support/until.ts';

/** Told in a request that was refused, and replaced by another. */
const FORGOTTEN = [secret('refused input'), secret('cron input')];
const ENCRYPTED = { LANGGRAPH_AES_KEY: TEST_KEY };

describeEachKeeper('with encryption', (open) => {
  test('a server answers as without encryption, and stores nothing in plain text', async () => {
    const env: Record<string, string> = {};
    await using plain = await open(env);
    await using sealed = await open({ ...ENCRYPTED });

    const expected = await everyFeature(plain.server);
    const { answers } = await everyFeature(sealed.server);
    for (const [feature, answer] of Object.entries(answers)) {
      expect([feature, answer]).toEqual([feature, expected.answers[feature]]);
    }
    expect(secretsIn(await storedText(sealed.url))).toEqual([]);

    // The same of one that is encrypted later; and its text has them all until then, or nothing would be tried here.
    const kept = expected.secrets.filter((word) => !FORGOTTEN.includes(word));
    expect(secretsIn(await storedText(plain.url))).toEqual(expect.arrayContaining(kept));
    const before = await remembered(plain.server);
    await plain.server.kill('SIGTERM');
    Object.assign(env, ENCRYPTED);
    const rotated = await agentServer(['encryption', 'rotate', '--config', CONFIG], {
      env: { ...env, DATABASE_URI: plain.url },
    });
    expect(rotated).toMatchObject({ code: 0, stderr: '' });
    vacuum(plain.url);
    expect(secretsIn(await storedText(plain.url))).toEqual([]);
    await plain.server.restart();
    expect(await remembered(plain.server)).toEqual(before);
  });

  test('runs of a killed server continue, and none of their data is stored in plain text', async () => {
    await using keeper = await open({ ...ENCRYPTED });
    await using hook = await receiver();
    const { server } = keeper;
    using talk = talkTo(server.url);
    const thread_id = await talk.thread();
    hook.answers.push(503);
    await talk.wait(thread_id, {
      input: { messages: [secret('before the kill')] },
      webhook: `${hook.url}/${secret('hook')}`,
    });
    await hook.came(1);
    const other = await talk.thread();
    const run = await talk.post(`/threads/${other}/runs`, {
      assistant_id: 'ten-steps',
      input: { n: 0 },
      config: { configurable: { step_ms: 50, told: secret('in the middle') } },
      stream_mode: ['values', 'debug'],
      stream_resumable: true,
    });
    const state = async () => (await talk.get(`/threads/${other}/state`)).body.values;
    await until('it is on its way', async () => (await state())?.n >= 3);

    await server.kill('SIGKILL');
    expect(secretsIn(await storedText(keeper.url))).toEqual([]);
    await server.restart();

    const path = `/threads/${other}/runs/${run.body.run_id}`;
    const { body } = await talk.get(`${path}/join`);
    expect(body).toEqual({ n: 10, executed: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] });
    const events = await talk.events('GET', `${path}/stream?last_event_id=-1`);
    expect(events.map(({ id }) => Number(id))).toEqual(events.map((_, place) => place + 1));
    await hook.came(2);
    expect(hook.received[1]).toMatchObject({ path: `/${secret('hook')}`, body: { thread_id } });
    expect((await talk.get(`/threads/${thread_id}`)).body.values.note).toBe('not asked');
    expect(secretsIn(await storedText(keeper.url))).toEqual([]);
  });
});

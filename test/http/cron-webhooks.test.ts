import { Webhook } from 'standardwebhooks';
import { afterAll, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { receiver, SECRET, TO_RECEIVER } from '../support/receiver.ts';

const http = await openApp({ graphs: ['echo'], environment: TO_RECEIVER });
const hook = await receiver();
afterAll(async () => {
  await http[Symbol.asyncDispose]();
  await hook[Symbol.asyncDispose]();
});

const YEARLY = { assistant_id: 'echo', schedule: '0 0 1 1 *', input: { x: 1 } };
const REFUSED = { status: 422, body: { detail: expect.stringMatching(/^Webhook /) } };

test.each(['/runs/crons', '/threads/{t}/runs/crons'])(
  'POST %s: each run of the cron calls its webhook, signed',
  async (route) => {
    const before = hook.received.length;
    const path = route.replace('{t}', await http.thread());
    const { body: cron } = await http.post(path, { ...YEARLY, webhook: hook.url });
    const { body: run } = await http.post(`/runs/crons/${cron.cron_id}/trigger`);
    await hook.came(before + 1);
    await http.patch(`/runs/crons/${cron.cron_id}`, { webhook: `${hook.url}/other` });
    await http.post(`/runs/crons/${cron.cron_id}/trigger`);
    await hook.came(before + 2);

    for (const { headers, text, body } of hook.received.slice(before)) {
      expect(new Webhook(SECRET).verify(text, headers)).toEqual(body);
    }
    expect(hook.received.slice(before)).toMatchObject([
      { path: '/', body: { run_id: run.run_id, status: 'success' } },
      { path: '/other', body: { status: 'success' } },
    ]);
  },
);

test('a cron with a forbidden webhook URL is neither created nor changed', async () => {
  const webhook = 'http://169.254.169.254/latest';
  expect(await http.post('/runs/crons', { ...YEARLY, webhook })).toMatchObject(REFUSED);
  const thread_id = await http.thread();
  expect(await http.post(`/threads/${thread_id}/runs/crons`, { ...YEARLY, webhook })).toMatchObject(REFUSED);
  const { body: cron } = await http.post('/runs/crons', YEARLY);
  expect(await http.patch(`/runs/crons/${cron.cron_id}`, { webhook })).toMatchObject(REFUSED);
});

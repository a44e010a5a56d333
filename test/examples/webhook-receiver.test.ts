import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { type EndedRun, webhookReceiver } from '../../examples/webhook-receiver/receiver.ts';
import { openApp } from '../support/app.ts';
import { freePort } from '../support/free-port.ts';
import { until } from '../support/until.ts';
import { callsOf, inShell, NODE, ROOT } from './blocks.ts';
import { started } from './started.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const OLD = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';

/** The example, and what it has been told. */
async function listening(secret: string) {
  const ended: EndedRun[] = [];
  const server = webhookReceiver(secret, (run) => ended.push(run)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return {
    url,
    ended,
    post: async (body: string, headers: Record<string, string>) =>
      (await fetch(url, { method: 'POST', body, headers })).status,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

test('the example receiver accepts signatures of the server with the new and the old secret', async () => {
  await using current = await listening(SECRET);
  await using late = await listening(OLD);
  const webhooks = { secret: [SECRET, OLD], url: { disable_loopback: false } };
  await using http = await openApp({
    graphs: ['echo'],
    environment: { LANGGRAPH_WEBHOOKS: JSON.stringify(webhooks) },
  });

  for (const { url, ended } of [current, late]) {
    const thread_id = await http.thread();
    await http.post(`/threads/${thread_id}/runs`, { assistant_id: 'echo', input: { x: 1 }, webhook: url });
    await until('it was told', () => ended.length > 0);
    expect(ended).toMatchObject([{ thread_id, status: 'success', values: { x: 1 } }]);
  }
});

test('the example receiver rejects other signatures and accepts each delivery once', async () => {
  await using to = await listening(SECRET);
  const body = '{"run_id":"r","status":"success"}';
  const signed = (secret: string, at: Date) => ({
    'webhook-id': 'one',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign('one', at, body),
  });
  const now = new Date();

  expect(await to.post(body, signed(OLD, now))).toBe(401);
  expect(await to.post(body.replace('success', 'error'), signed(SECRET, now))).toBe(401);
  expect(await to.post(body, signed(SECRET, new Date(now.getTime() - 3_600_000)))).toBe(401);
  expect(await to.post(body, {})).toBe(401);
  expect(to.ended).toEqual([]);
  expect(await to.post(body, signed(SECRET, now))).toBe(204);
  expect(await to.post(body, signed(SECRET, now))).toBe(204);
  expect(to.ended).toHaveLength(1);
});

test('docs/webhooks.md', async () => {
  const port = String(await freePort());
  const child = spawn(NODE, ['examples/webhook-receiver/main.ts'], {
    cwd: ROOT,
    env: { ...process.env, WEBHOOK_SECRET: SECRET, RECEIVER_PORT: port },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const heard: string[] = [];
  createInterface(child.stdout).on('line', (line) => heard.push(line));
  const webhooks = { secret: SECRET, url: { disable_loopback: false } };
  try {
    await using server = await started('npm start', { LANGGRAPH_WEBHOOKS: JSON.stringify(webhooks) });
    await until('the receiver listens', () => heard.length > 0);
    const [run, deliveries] = callsOf('docs/webhooks.md').map((text) => text.replaceAll(':9000', `:${port}`));
    const told = () => heard.some((line) => /^run [\w-]+ ended: success/.test(line));
    const [made] = await inShell([run as string], server.url);
    expect(made).toMatchObject({ statuses: [200, 200], complaints: '' });
    await until('it was told', told);

    const [, looked] = await inShell([run as string, deliveries as string], server.url);
    expect(looked).toMatchObject({ statuses: [200, 200, 200, 200, 200, 200], complaints: '' });
    expect(looked?.output).toMatch(/"kind":"test","run_id":null.*"status":"delivered"/);
  } finally {
    child.kill();
    await once(child, 'close');
  }
});

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { Client } from '@langchain/langgraph-sdk';
import { createJiti } from 'jiti';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { expect, test } from 'vitest';
import { onlyBlock, ROOT } from './blocks.ts';
import { KEY, recipe } from './recipe.ts';

const NAMED_MODEL = JSON.stringify(join(ROOT, 'test/fixtures/usage/spender.ts'));

test('docs/recipes/cost-per-customer.md: the bill has a line for each customer and model', async () => {
  const model = `import { NamedModel } from ${NAMED_MODEL}; export const model = new NamedModel('gpt-4o-mini');`;
  await using server = await recipe('cost-per-customer', { files: { 'model.ts': model } });
  for (const customer of ['acme', 'acme', 'globex'])
    expect(await server.run('ask.ts', customer, 'Hello')).toBe('said\n');
  await server.server.client.runs.wait(null, 'agent', { input: { messages: 'Hello' } });

  const today = new Date().toISOString().slice(0, 10);
  const [head, ...lines] = (await server.run('bill.ts', today, today)).trim().split('\n');

  expect(head).toBe('customer,model,calls,unpriced,in,out,cost');
  // A call has 50 new tokens, 20 from the cache, and 30 that it wrote.
  const cost = (50 * 0.15 + 20 * 0.075 + 30 * 0.6) / 1e6;
  const rows = lines.map((line) => line.split(','));
  expect(rows.map((row) => row.slice(0, 6))).toEqual([
    ['', 'gpt-4o-mini', '1', '0', '70', '30'],
    ['acme', 'gpt-4o-mini', '2', '0', '140', '60'],
    ['globex', 'gpt-4o-mini', '1', '0', '70', '30'],
  ]);
  expect(Number(rows[1]?.[6])).toBeCloseTo(2 * cost, 10);
});

/** Stands for Auth0: publishes its keys, and signs tokens. */
async function identityProvider(audience: string) {
  const { privateKey, publicKey } = await generateKeyPair('RS256');
  const jwks = { keys: [{ ...(await exportJWK(publicKey)), kid: 'one', use: 'sig', alg: 'RS256' }] };
  const server = createServer((_, response) => response.end(JSON.stringify(jwks))).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const sign = (sub: string, claims: object = {}, expires = '1h') =>
    new SignJWT({ ...claims })
      .setProtectedHeader({ alg: 'RS256', kid: 'one' })
      .setSubject(sub)
      .setIssuer(issuer)
      .setAudience(audience)
      .setExpirationTime(expires)
      .sign(privateKey);
  return { issuer, sign, [Symbol.dispose]: () => void server.close() };
}

type Say = (url: string, getToken: () => Promise<string>, text: string, thread?: string) => Promise<Said>;
type Said = { thread_id: string; text: string };

test('docs/recipes/auth0-chat.md: users see their own threads, and tenants share their notes', async () => {
  using auth0 = await identityProvider('https://agents.example.com');
  const config = onlyBlock('docs/recipes/auth0-chat.md', 'yaml', 'jwks_url');
  const files = { 'agent.config.yaml': config.replaceAll('https://acme.eu.auth0.com/', auth0.issuer) };
  await using server = await recipe('auth0-chat', { files });
  const { url } = server.server;
  const jiti = createJiti(server.project.root, { fsCache: false });
  const { say } = await jiti.import<{ say: Say }>(server.project.path('chat.ts'));
  const as = (sub: string, org_id: string) => (text: string, thread?: string) =>
    say(url, () => auth0.sign(`auth0|${sub}`, { org_id }), text, thread);
  const [ann, ben, eve] = [as('ann', 'org_acme'), as('ben', 'org_acme'), as('eve', 'org_evil')];

  const noted = await ann('note closed on Monday');
  expect((await ben('Anything new?')).text).toBe('Your company noted: closed on Monday');
  expect((await eve('Anything new?')).text).toBe('Your company noted: ');
  await expect(ben('May I?', noted.thread_id)).rejects.toThrow('404');
  expect((await ann('And now?', noted.thread_id)).thread_id).toBe(noted.thread_id);

  const refused = say(url, () => auth0.sign('auth0|ann', { org_id: 'org_acme' }, '-1h'), 'Late');
  await expect(refused).rejects.toThrow('401');
  const token = await auth0.sign('auth0|root', { permissions: ['read:all'] });
  const admin = new Client({
    apiUrl: url,
    apiKey: null,
    defaultHeaders: { Authorization: `Bearer ${token}` },
  });
  expect((await admin.threads.search()).map(({ metadata }) => metadata?.['owner']).sort()).toEqual([
    'auth0|ann',
    'auth0|ben',
    'auth0|eve',
  ]);
});

test('docs/recipes/auth0-chat.md: with the organisation as identity, its users share threads', async () => {
  using auth0 = await identityProvider('https://agents.example.com');
  const config = onlyBlock('docs/recipes/auth0-chat.md', 'yaml', 'jwks_url')
    .replaceAll('https://acme.eu.auth0.com/', auth0.issuer)
    .replace('  jwt:\n', '  jwt:\n    identity_claim: org_id\n');
  await using server = await recipe('auth0-chat', { files: { 'agent.config.yaml': config } });
  const clientOf = async (sub: string, org_id: string) => {
    const defaultHeaders = { Authorization: `Bearer ${await auth0.sign(sub, { org_id })}` };
    return new Client({ apiUrl: server.server.url, apiKey: null, defaultHeaders });
  };
  const { thread_id } = await (await clientOf('ann', 'org_acme')).threads.create();

  expect(await (await clientOf('ben', 'org_acme')).threads.get(thread_id)).toMatchObject({ thread_id });
  await expect((await clientOf('eve', 'org_evil')).threads.get(thread_id)).rejects.toThrow('404');
});

test('docs/recipes/deepagents.md: a subagent works, a file lasts in the store, and a person approves', async () => {
  const model = `
    import { AIMessage } from '@langchain/core/messages';
    import { fakeModel } from '@langchain/core/testing';
    export const model = fakeModel()
      .respondWithTools([{ name: 'task', args: { description: 'Facts about tea', subagent_type: 'researcher' } }])
      .respondWithTools([{ name: 'search', args: { query: 'tea' } }])
      .respond(new AIMessage('Tea is green.'))
      .respondWithTools([
        { name: 'write_file', args: { file_path: '/memories/tea.md', content: 'Tea is green.' } },
        { name: 'write_file', args: { file_path: '/draft.md', content: 'A draft.' } },
      ])
      .respondWithTools([{ name: 'publish', args: { title: 'Tea' } }])
      .respond(new AIMessage('It is published.'));`;
  await using server = await recipe('deepagents', { files: { 'model.ts': model } });

  expect((await server.run('ask.ts')).split('\n')).toEqual([
    '1 subagent worked',
    "asks publish [ '/draft.md' ]",
    'It is published.',
    '',
  ]);
  const { items } = await server.server.client.store.searchItems(['memories', 'writer']);
  expect(items.map(({ key, value }) => [key, JSON.stringify(value).includes('Tea is green.')])).toEqual([
    ['/tea.md', true],
  ]);
});

test('docs/recipes/cron-digest.md: each digest has what is new, and there is one cron', async () => {
  const texts: string[] = [];
  const receiver = createServer(async (request, response) => {
    texts.push(((await json(request)) as { text: string }).text);
    response.end();
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  const DIGEST_URL = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  const model = 'export const summary = async (texts) => texts.sort().join(" ");';
  await using server = await recipe('cron-digest', { files: { 'model.ts': model }, env: { DIGEST_URL } });
  const { client, url } = server.server;
  const trigger = async (cron_id: string) => {
    const headers = { 'x-api-key': KEY };
    const answer = await fetch(`${url}/runs/crons/${cron_id}/trigger`, { method: 'POST', headers });
    const { thread_id, run_id } = (await answer.json()) as { thread_id: string; run_id: string };
    await client.runs.join(thread_id, run_id);
  };

  await server.run('schedule.ts');
  const [cron_id = '', next = ''] = (await server.run('schedule.ts')).trim().split(' ');
  expect(next).toMatch(/T0[56]:30:00/);
  expect((await client.crons.search()).map((cron) => cron.cron_id)).toEqual([cron_id]);
  await client.store.putItem(['news'], 'a', { text: 'One.' });
  await client.store.putItem(['news'], 'b', { text: 'Two.' });
  await trigger(cron_id);
  await trigger(cron_id);
  await client.store.putItem(['news'], 'c', { text: 'Three.' });
  await trigger(cron_id);
  receiver.close();

  expect(texts).toEqual(['One. Two.', 'Three.']);
});

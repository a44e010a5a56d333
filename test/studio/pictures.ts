import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Page } from 'playwright-core';
import { openBrowser } from '../support/browser.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { loaded } from '../support/studio-screens.ts';

/** `npm run pictures`: takes the pictures of Studio in docs/images from a server with the examples. */
const FOLDER = resolve(import.meta.dirname, '../../docs/images');
const MAX_BYTES = 150_000;

async function ask(server: TestServer, assistant: string, input: Record<string, unknown>, title: string) {
  const { thread_id } = await server.client.threads.create({ metadata: { title } });
  const run = await server.client.runs.create(thread_id, assistant, { input, streamResumable: true });
  await server.client.runs.join(thread_id, run.run_id);
  return { thread_id, run_id: run.run_id };
}

const message = (content: string) => ({ messages: [{ role: 'user', content }] });

async function picture(page: Page, name: string): Promise<void> {
  await page.mouse.move(0, 0);
  await page.evaluate('document.fonts.ready');
  const path = join(FOLDER, `${name}.png`);
  await page.screenshot({ path, animations: 'disabled' });
  const { size } = await stat(path);
  if (size > MAX_BYTES) throw new Error(`${path} has ${size} bytes, more than ${MAX_BYTES}.`);
}

const outbox = await mkdtemp(join(tmpdir(), 'outbox-'));
{
  await using server = await startServer({
    graphs: {
      assistant: 'examples/assistant/graph.ts:graph',
      research: 'examples/research/graph.ts:graph',
    },
    env: { OUTBOX: outbox, OPENAI_API_KEY: '', OPENAI_BASE_URL: '' },
  });
  const topics = { question: 'Compare heat pumps, insulation and solar panels' };
  const { run_id } = await ask(server, 'research', topics, 'A warm house');
  const chat = await ask(server, 'assistant', message('When is the shop open on Saturday?'), 'Opening hours');
  const order = 'Email ana@example.com about lunch saying See you at noon.';
  const mail = await ask(server, 'assistant', message(order), 'Lunch with Ana');

  await using browser = await openBrowser();
  const page = await browser.newPage({ viewport: { width: 1200, height: 680 }, colorScheme: 'light' });
  async function open(path: string): Promise<void> {
    await page.goto(`${server.url}/studio${path}`);
    await loaded(page);
  }
  await open(`/chat/assistant/${chat.thread_id}`);
  await page.getByRole('log').getByText('opening-hours.md says').waitFor();
  await picture(page, 'studio-chat');
  await open(`/runs/${run_id}`);
  await page
    .getByRole('button', { name: /^investigate/ })
    .first()
    .click();
  await picture(page, 'studio-run');
  await open(`/graphs/research?run=${run_id}&open=investigate`);
  await page.getByRole('button', { name: /^plan, / }).waitFor();
  await picture(page, 'studio-graph');
  await open(`/threads/${mail.thread_id}`);
  await page.getByRole('region', { name: 'Changes' }).waitFor();
  await picture(page, 'studio-thread');
  await open('/inbox');
  await picture(page, 'studio-inbox');
}
await rm(outbox, { recursive: true, force: true });

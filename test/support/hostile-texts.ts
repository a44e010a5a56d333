import type { openApp } from './app.ts';
import { type Receiver, TO_RECEIVER } from './receiver.ts';
import type { ShownIds } from './studio-screens.ts';
import { until } from './until.ts';
import { HOSTILE_PROPS, PAYLOADS } from './xss-payloads.ts';

type Http = Pick<Awaited<ReturnType<typeof openApp>>, 'get' | 'post' | 'patch' | 'send'>;

/** The thread and the run are those that have answered. */
export interface HostileIds extends ShownIds {
  /** A thread whose run asks. */
  readonly waiting_id: string;
  readonly failed_id: string;
}

/** Deployments need SQLite. */
const HAS_DEPLOYMENTS = process.env['TEST_DATABASE'] !== 'postgres';

/** The key of the server that takes these texts. */
export const OPERATOR = 'an-operator';

/** A server that takes all of these texts. */
export const HOSTILE_SERVER = {
  graphs: ['hostile'],
  folder: 'test/fixtures/hostile',
  environment: {
    ...TO_RECEIVER,
    AGENT_SERVER_API_KEYS: OPERATOR,
    AGENT_SERVER_DEPLOYMENTS: String(HAS_DEPLOYMENTS),
  },
  one_process: 'deployments',
} as const;

/** Writes texts that try to run wherever a client of the API may write a text. */
export async function plantHostileTexts(app: Http, hook: Receiver): Promise<HostileIds> {
  const headers = { 'x-api-key': OPERATOR };
  const http: Http = {
    get: (url) => app.get(url, headers),
    post: (url, body) => app.post(url, body, headers),
    patch: (url, body) => app.patch(url, body, headers),
    send: (method, url, body) => app.send(method, url, body, headers),
  };
  const ran = await plantRuns(http);
  await plantRows(http);
  const [text = ''] = PAYLOADS;
  const assistant = {
    graph_id: 'hostile',
    name: text,
    description: text,
    metadata: everywhere,
    context: everywhere,
  };
  const { assistant_id } = await created(http, '/assistants', assistant);
  await http.patch(`/assistants/${assistant_id}`, { name: PAYLOADS[2], metadata: { title: HOSTILE_PROPS } });
  const cron = { assistant_id, schedule: '0 0 1 1 *', input: everywhere, metadata: everywhere };
  const { cron_id } = await created(http, '/runs/crons', cron);
  await created(http, `/runs/crons/${cron_id}/trigger`, {});
  hook.answers.push((_request, response) => response.writeHead(410).end(PAYLOADS.join('\n')));
  const url = `${hook.url}/${encodeURI(text)}?${new URLSearchParams({ text: PAYLOADS.join('\n') })}`;
  const { delivery_id } = await created(http, '/webhooks/test', { url });
  const deployment_id = HAS_DEPLOYMENTS ? await deployment(http) : cron_id;
  return { assistant_id, cron_id, delivery_id, deployment_id, ...ran };
}

const everywhere = Object.fromEntries(PAYLOADS.map((text) => [text, text]));

async function created(http: Http, path: string, body: object) {
  const answer = await http.post(path, body);
  if (answer.status >= 300) throw new Error(`${path}: ${answer.text}`);
  return answer.body;
}

async function deployment(http: Http): Promise<string> {
  const commands = { install_command: PAYLOADS.join('\n'), build_command: PAYLOADS.join('\n') };
  const body = { name: 'hostile', source: 'internal_source', source_config: commands };
  return (await created(http, '/v2/deployments', body)).id;
}

async function thread(http: Http, metadata: object = {}): Promise<string> {
  return (await created(http, '/threads', { metadata })).thread_id;
}

async function plantRuns(http: Http) {
  const messages = PAYLOADS.map((content) => ({ role: 'user', content }));
  const thread_id = await thread(http, { title: PAYLOADS[2], ...everywhere });
  const { run_id } = await ended(http, thread_id, { messages });
  const waiting_id = await thread(http, { title: HOSTILE_PROPS });
  await ended(http, waiting_id, { messages: [], asks: true });
  let failed_id = '';
  for (const throws of PAYLOADS.keys()) {
    const failed = await ended(http, await thread(http), { messages: [], throws });
    failed_id = failed.run_id;
  }
  return { thread_id, waiting_id, run_id, failed_id };
}

/** A run that has ended, with its events. */
async function ended(http: Http, thread_id: string, input: object): Promise<{ run_id: string }> {
  const run = { assistant_id: 'hostile', input, stream_resumable: true, stream_mode: ['custom', 'values'] };
  const { run_id } = await created(http, `/threads/${thread_id}/runs`, { ...run, metadata: everywhere });
  await until('the run ends', async () => {
    const { status } = (await http.get(`/threads/${thread_id}/runs/${run_id}`)).body;
    return status !== 'pending' && status !== 'running';
  });
  return { run_id };
}

/** One row of each kind for each text. */
async function plantRows(http: Http): Promise<void> {
  for (const [i, text] of PAYLOADS.entries()) {
    await created(http, '/threads', { metadata: { title: text, owner: text } });
    await created(http, '/assistants', { graph_id: 'hostile', name: text, description: text });
    await created(http, '/keys', { name: text, scope: 'read', user_id: text });
    // Labels of a namespace have no dots.
    for (const namespace of [['texts'], ['labels', text.replaceAll('.', '')], [`label-${i}`]]) {
      await http.send('PUT', '/store/items', { namespace, key: text, value: { [text]: text } });
    }
  }
}

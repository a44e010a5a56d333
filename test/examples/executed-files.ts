import { Session } from 'node:inspector/promises';
import { createApp, loadConfig, silentLogger } from '../../src/index.ts';

/**
 * Prints, as JSON, the files below `src` that execute a function between a streamed request and the end of its reply.
 * A process of its own: V8 counts the functions of all that it has loaded.
 */
const [folder = '.'] = process.argv.slice(2);
const environment = { DATABASE_URI: `sqlite:${folder}/server.db`, AGENT_SERVER_DATA_DIR: folder, PORT: '0' };
const { config } = await loadConfig({ cwd: folder, environment });
const app = await createApp(config, { logger: silentLogger });
const { url } = await app.listen();
await app.ready();

async function post(path: string, body: object): Promise<Response> {
  const headers = { 'content-type': 'application/json' };
  return fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
}

const { thread_id } = (await (await post('/threads', {})).json()) as { thread_id: string };

async function stream(): Promise<void> {
  const reply = await post(`/threads/${thread_id}/runs/stream`, { assistant_id: 'agent', input: { n: 0 } });
  const text = await reply.text();
  if (!reply.ok || !text.includes('event: values')) throw new Error(`${reply.status}: ${text}`);
}

// Loads what only the first run does.
await stream();
const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
await stream();
const { result } = await session.post('Profiler.takePreciseCoverage');
session.disconnect();

const executed = result
  .filter(({ url, functions }) => url.includes('/src/') && functions.some(isCalled))
  .map(({ url }) => `src/${url.split('/src/').at(-1)}`);
process.stdout.write(JSON.stringify(executed));
await app.stop(0);

/** The first function of a file is its top level. */
function isCalled({ ranges, functionName }: (typeof result)[number]['functions'][number]): boolean {
  const [range] = ranges;
  return range !== undefined && range.count > 0 && (functionName !== '' || range.startOffset > 0);
}

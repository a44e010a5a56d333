import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { TEST_KEY } from '../support/encryption.ts';
import { withFaults } from '../support/faults.ts';
import { type HttpClient, httpClient } from '../support/http-client.ts';
import { operationsOf } from '../support/operations.ts';
import { startServer } from '../support/server.ts';
import { ENGINE_OF_TESTS } from '../support/test-database.ts';
import { type LargestRequest, largestOf, PRODUCTS, UNBOUNDED } from './largest-bodies.ts';
import { COMMANDS, sendCommand } from './largest-commands.ts';
import { insertLargest } from './largest-rows.ts';
import { isBelowLimit, type Measured, type Pause, printTable } from './largest-table.ts';
import type { Described } from './largest-values.ts';

const PROBE = resolve(import.meta.dirname, 'pause-probe.ts');

/** Both engines, each plain and encrypted; then some operations without a bound. False if one paused for too long. */
export async function measureLargest(rows: number): Promise<boolean> {
  const engines = process.env['TEST_POSTGRES_URI'] === undefined ? ['sqlite'] : ['sqlite', 'postgres'];
  const folder = await mkdtemp(join(tmpdir(), 'largest-'));
  const bounded: Measured[] = [];
  const unbounded: Measured[] = [];
  for (const engine of engines) {
    const file = join(folder, engine);
    const env = { ...process.env, TEST_DATABASE: engine };
    const args = [process.argv[1] as string, 'largest-of-engine', String(rows), file];
    await once(spawn(process.execPath, args, { env, stdio: 'inherit' }), 'close');
    const measured: Measured[] = JSON.parse(await readFile(file, 'utf8'));
    bounded.push(...measured.filter(({ is_bounded }) => is_bounded));
    unbounded.push(...measured.filter(({ is_bounded }) => !is_bounded));
  }
  await rm(folder, { recursive: true, force: true });
  printTable('All operations', bounded, rows);
  printTable('Without their bounds', unbounded, rows);
  return bounded.every(isBelowLimit);
}

/** Of the engine of this process. Writes what it measured to the file. */
export async function measureEngine(rows: number, file: string): Promise<boolean> {
  const measured = [
    ...(await measure(ENGINE_OF_TESTS, {}, rows)),
    ...(await measure(`${ENGINE_OF_TESTS}+key`, { LANGGRAPH_AES_KEY: TEST_KEY }, rows)),
  ];
  if (ENGINE_OF_TESTS === 'sqlite') {
    const env = withFaults('work without a bound');
    const without = await measure('sqlite', env, rows, UNBOUNDED);
    measured.push(...without.map((each) => ({ ...each, is_bounded: false })));
  }
  await writeFile(file, JSON.stringify(measured));
  return true;
}

async function measure(
  storage: string,
  { NODE_OPTIONS = '', ...env }: Readonly<Record<string, string>>,
  rows: number,
  only?: readonly LargestRequest[],
): Promise<Measured[]> {
  const folder = await mkdtemp(join(tmpdir(), 'largest-'));
  const socket = join(folder, 'probe');
  await using server = await startServer({
    graphs: {
      echo: 'test/fixtures/graphs/echo.ts:graph',
      conversing: 'test/fixtures/conversing-graphs/conversing.ts:graph',
    },
    env: {
      ...env,
      AGENT_SERVER_RECORD: 'contents',
      LANGGRAPH_HTTP: '{"openai":{"enabled":true}}',
      LANGGRAPH_WEBHOOKS: '{"url":{"disable_loopback":false}}',
      PAUSE_PROBE: socket,
      NODE_OPTIONS: `--import ${PROBE} ${NODE_OPTIONS}`,
    },
    one_process: 'measures pauses inside the process',
  });
  using client = httpClient(server.url);
  const ids = await insertLargest(client, rows);
  const measured: Measured[] = [];

  async function one(
    name: string,
    field: string | undefined,
    act: () => Promise<[status: number, bytes: number]>,
  ) {
    process.stderr.write(`\r${storage}: ${name} ${field ?? ''}`.slice(0, 79).padEnd(80));
    await pauseSince(socket);
    const [status, body_bytes] = await act();
    measured.push({
      storage,
      name,
      field,
      status,
      body_bytes,
      is_bounded: true,
      ...(await pauseSince(socket)),
    });
  }

  for (const request of only ?? [...PRODUCTS, ...(await requestsOf(client, ids))]) {
    const bytes = request.body === undefined ? 0 : Buffer.byteLength(JSON.stringify(request.body));
    await one(request.name, request.field, async () => [await send(client, request), bytes]);
  }
  for (const command of only ? [] : COMMANDS) {
    const act = () => sendCommand(server.url, ids['kept_thread_id'] as string, command);
    await one(`WebSocket ${command.name}`, command.field, async () => [101, await act()]);
  }
  await rm(folder, { recursive: true, force: true });
  return measured;
}

/** Of all operations, with deletions at the end. Streams of the server itself have no end. */
async function requestsOf(
  client: HttpClient,
  ids: Readonly<Record<string, string>>,
): Promise<LargestRequest[]> {
  const document = (await client.call<object>('GET', '/openapi.json')) as Parameters<
    typeof operationsOf
  >[0] & {
    components: { schemas: Record<string, Described> };
  };
  return operationsOf(document)
    .filter(({ path }) => !/^\/system\/(changes|logs|server-logs)$|\/stream$|\/stream\/events$/.test(path))
    .sort((one, other) => Number(one.method === 'DELETE') - Number(other.method === 'DELETE'))
    .flatMap((operation) => largestOf(operation, ids, document.components.schemas));
}

const PATIENCE_MS = 20_000;

/** 0 where the answer had no end in time, as a stream of events. It may be JSON, events or plain text. */
async function send(client: HttpClient, { method, path, body }: LargestRequest): Promise<number> {
  const late = AbortSignal.timeout(PATIENCE_MS);
  const timeout = once(late, 'abort').then(() => 0);
  const answer = async () => {
    const { status, events } = await client.stream(method, path, { body });
    for await (const _ of events);
    return status;
  };
  return Promise.race([answer(), timeout]).catch(() => 0);
}

async function pauseSince(path: string): Promise<Pause> {
  return JSON.parse(await text(connect(path)));
}

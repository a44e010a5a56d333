import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
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
import { type LargestRequest, largestOf, PRODUCTS } from './largest-bodies.ts';
import { insertLargest } from './largest-rows.ts';
import { subscribeMuch } from './largest-subscriptions.ts';

/** What is asked of a quiet machine, ms. */
const LONGEST_MS = 100;
const PROBE = resolve(import.meta.dirname, 'pause-probe.ts');

interface Pause {
  /** Between two turns of the event loop: with whatever else the machine does, and of CPU time alone. */
  readonly delay_ms: number;
  readonly cpu_ms: number;
}

interface Measured extends Pause {
  readonly storage: string;
  readonly name: string;
  readonly status: number;
  readonly body_bytes: number;
}

/** Both engines, each plain and encrypted. False if an operation paused for too long. */
export async function measureLargest(rows: number): Promise<boolean> {
  const engines = process.env['TEST_POSTGRES_URI'] === undefined ? ['sqlite'] : ['sqlite', 'postgres'];
  let isWell = true;
  for (const engine of engines) {
    const env = { ...process.env, TEST_DATABASE: engine };
    const args = [process.argv[1] as string, 'largest-of-engine', String(rows)];
    const [code] = await once(spawn(process.execPath, args, { env, stdio: 'inherit' }), 'close');
    isWell &&= code === 0;
  }
  return isWell;
}

export async function measureEngine(rows: number): Promise<boolean> {
  const storages: [string, Record<string, string>][] = [
    [ENGINE_OF_TESTS, {}],
    [`${ENGINE_OF_TESTS}, encrypted`, { LANGGRAPH_AES_KEY: TEST_KEY }],
  ];
  const all: Measured[] = [];
  for (const [storage, env] of storages) {
    const measured = await measure(storage, env, rows);
    print(measured, rows);
    all.push(...measured);
  }
  const late = all.filter(({ cpu_ms }) => cpu_ms > LONGEST_MS);
  console.log(
    `${late.length} of ${all.length} operations took more than ${LONGEST_MS} ms of CPU in one turn`,
  );
  if (ENGINE_OF_TESTS === 'sqlite') {
    const { NODE_OPTIONS = '', ...fault } = withFaults('statements without a bound');
    const [title] = PRODUCTS.filter(({ name }) => name === 'search of threads by values');
    const only = title ? [title] : [];
    print(await measure('sqlite, slices without a bound', fault, rows, { only, NODE_OPTIONS }), rows);
  }
  return late.length === 0;
}

async function measure(
  storage: string,
  env: Readonly<Record<string, string>>,
  rows: number,
  { only, NODE_OPTIONS = '' }: { only?: readonly LargestRequest[]; NODE_OPTIONS?: string } = {},
): Promise<Measured[]> {
  const folder = await mkdtemp(join(tmpdir(), 'largest-'));
  const socket = join(folder, 'probe');
  await using server = await startServer({
    graphs: { echo: 'test/fixtures/graphs/echo.ts:graph' },
    env: {
      ...env,
      LANGGRAPH_HTTP: '{"openai":{"enabled":true}}',
      PAUSE_PROBE: socket,
      NODE_OPTIONS: `--import ${PROBE} ${NODE_OPTIONS}`,
    },
    one_process: 'measures pauses inside the process',
  });
  using client = httpClient(server.url);
  const ids = await insertLargest(client, rows);
  const document = (await client.send('GET', '/openapi.json')).body as Parameters<typeof operationsOf>[0];
  const operations = operationsOf(document)
    // Streams of the server itself have no end; deletions come last.
    .filter(({ path }) => !/^\/system\/(changes|logs|server-logs)$|\/stream$|\/stream\/events$/.test(path))
    .sort((one, other) => Number(one.method === 'DELETE') - Number(other.method === 'DELETE'));
  const requests = only ?? [...PRODUCTS, ...operations.map((each) => largestOf(each, ids))];
  const measured: Measured[] = [];
  await pauseSince(socket);
  for (const request of requests) {
    process.stderr.write(`\r${storage}: ${request.name}`.padEnd(80));
    const status = await send(client, request);
    const body_bytes = request.body === undefined ? 0 : Buffer.byteLength(JSON.stringify(request.body));
    measured.push({ storage, name: request.name, status, body_bytes, ...(await pauseSince(socket)) });
  }
  if (!only) {
    const body_bytes = await subscribeMuch(server.url, ids['thread_id'] as string);
    measured.push({
      storage,
      name: 'WebSocket subscriptions',
      status: 101,
      body_bytes,
      ...(await pauseSince(socket)),
    });
  }
  await rm(folder, { recursive: true, force: true });
  return measured;
}

const PATIENCE_MS = 20_000;

/** 0 where no answer came in time, as for a stream of events. */
async function send(client: HttpClient, { method, path, body }: LargestRequest): Promise<number> {
  const late = AbortSignal.timeout(PATIENCE_MS);
  const timeout = once(late, 'abort').then(() => ({ status: 0 }));
  const { status } = await Promise.race([client.send(method, path, { body }), timeout]).catch(() => ({
    status: 0,
  }));
  return status;
}

async function pauseSince(path: string): Promise<Pause> {
  return JSON.parse(await text(connect(path)));
}

function print(measured: readonly Measured[], rows: number): void {
  console.log(`\n${'storage'.padEnd(20)} ${'operation'.padEnd(44)} status  rows body bytes pause ms CPU ms`);
  for (const each of measured.toSorted((one, other) => other.cpu_ms - one.cpu_ms)) {
    const numbers = [
      String(each.status).padStart(6),
      String(rows).padStart(5),
      String(each.body_bytes).padStart(10),
      each.delay_ms.toFixed(0).padStart(8),
      each.cpu_ms.toFixed(0).padStart(6),
    ];
    console.log(`${each.storage.padEnd(20)} ${each.name.slice(0, 44).padEnd(44)} ${numbers.join(' ')}`);
  }
}

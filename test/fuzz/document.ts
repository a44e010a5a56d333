import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { startServer } from '../support/server.ts';

const TOOL = 'schemathesis==4.32.5';
const LEAST_REQUESTS = 20_000;
const VENV = resolve(import.meta.dirname, '../../node_modules/.cache/fuzz');

/**
 * Sends requests that are made from the served OpenAPI document, good and bad ones. False, after saying why, on an
 * answer of 5xx, on a status that is not documented, and with too few requests. Needs `python3`, and the internet the
 * first time.
 */
export async function fuzzDocument(seconds: number): Promise<boolean> {
  if (!existsSync(join(VENV, 'bin/schemathesis'))) {
    await run('python3', ['-m', 'venv', VENV]);
    await run(join(VENV, 'bin/pip'), ['install', '--quiet', TOOL]);
  }
  await using server = await startServer({ graphs: { echo: 'test/fixtures/graphs/echo.ts:graph' } });
  const folder = await mkdtemp(join(tmpdir(), 'fuzz-'));
  const report = join(folder, 'report.ndjson');
  const code = await run(join(VENV, 'bin/schemathesis'), [
    'run',
    `${server.url}/openapi.json`,
    ...['--checks', 'not_a_server_error,status_code_conformance'],
    ...['--phases', 'examples,coverage,fuzzing'],
    ...['--max-time', String(seconds), '--max-examples', '1000', '--request-timeout', '30'],
    ...['--continue-on-failure', '--warnings', 'off'],
    ...['--report', 'ndjson', '--report-ndjson-path', report],
  ]);
  const statuses = await statusesIn(report);
  await rm(folder, { recursive: true, force: true });
  const requests = [...statuses.values()].reduce((sum, count) => sum + count, 0);
  console.log(
    `\n${requests} requests, by status: ${[...statuses].map((pair) => pair.join(' × ')).join(', ')}`,
  );
  if (requests < LEAST_REQUESTS) console.log(`fewer than ${LEAST_REQUESTS}: give it more seconds`);
  return code === 0 && requests >= LEAST_REQUESTS;
}

async function run(file: string, args: readonly string[]): Promise<number> {
  const [code] = await once(spawn('nice', ['-n', '10', file, ...args], { stdio: 'inherit' }), 'close');
  return code as number;
}

/** Status → how many answers had it; `none` where none came. */
async function statusesIn(file: string): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  for await (const line of createInterface({ input: createReadStream(file) })) {
    const interactions = JSON.parse(line).ScenarioFinished?.recorder.interactions ?? {};
    for (const { response } of Object.values<{ response?: { status_code: number } }>(interactions)) {
      const status = String(response?.status_code ?? 'none');
      found.set(status, (found.get(status) ?? 0) + 1);
    }
  }
  return new Map([...found].sort());
}

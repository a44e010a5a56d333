import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { FaultName } from './faults/faults.ts';
import { type Engine, ROWS, type Row } from './rows.ts';

/**
 * `npm run chaos -- --engine postgres|sqlite`: the tests of this folder at their full size on one engine; then the test
 * of each guarantee once more without the mechanism that holds it, which must fail. `--rows 2,3`: only those
 * guarantees, once with their mechanism and once without.
 */
const { values } = parseArgs({
  options: { engine: { type: 'string', default: 'sqlite' }, rows: { type: 'string' } },
});
const ROOT = resolve(import.meta.dirname, '../..');
const engine = values.engine as Engine;
if (engine !== 'sqlite' && engine !== 'postgres') throw new Error('--engine must be sqlite or postgres');
if (engine === 'postgres' && !process.env['TEST_POSTGRES_URI'])
  throw new Error('--engine postgres needs TEST_POSTGRES_URI: the address of a PostgreSQL server for tests');
const wanted = values.rows?.split(',').map(Number);
const rows = ROWS.filter((row) => row.engines.includes(engine) && (wanted?.includes(row.row) ?? true));

/** Of servers that say nothing else: the tests wait 20 s for what a restart brings, as long as the default. */
const LEASE_SECONDS = '4';

/** Of a run of vitest: how many tests passed and failed. */
interface Outcome {
  readonly passed: number;
  readonly failed: number;
}

async function vitest(args: readonly string[], without?: FaultName): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'agent-server-chaos-'));
  const results = join(folder, 'results.json');
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    TEST_RESULTS: results,
    TEST_DATABASE: engine,
    // What needs a PostgreSQL is skipped without one.
    TEST_POSTGRES_URI: engine === 'postgres' ? process.env['TEST_POSTGRES_URI'] : '',
    ...(engine === 'postgres' ? { TEST_LEASE_SECONDS: LEASE_SECONDS } : {}),
    ...(without ? { CHAOS_FAULT: without } : {}),
  };
  if (engine === 'sqlite') delete env['TEST_POSTGRES_URI'];
  const stdio = ['ignore', without ? 'ignore' : 'inherit', without ? 'ignore' : 'inherit'] as const;
  const child = spawn('npx', ['vitest', 'run', ...args], { cwd: ROOT, env, stdio: [...stdio] });
  await once(child, 'exit');
  const { numPassedTests, numFailedTests } = JSON.parse(readFileSync(results, 'utf8'));
  rmSync(folder, { recursive: true });
  return { passed: numPassedTests, failed: numFailedTests };
}

function testOf({ file, test }: Row): string[] {
  return [`test/chaos/${file}.test.ts`, '-t', test];
}

/** For a test that hangs without its mechanism, ms. */
const PATIENCE_MS = 120_000;

let isWell = true;
function report(what: string, isAsItShould: boolean): void {
  process.stdout.write(`${isAsItShould ? 'as it should' : 'NOT AS IT SHOULD'}: ${what}\n`);
  isWell &&= isAsItShould;
}

if (wanted) {
  for (const row of rows) {
    const { passed, failed } = await vitest(testOf(row));
    report(`${row.row}: ${row.test}: ${passed} passed, ${failed} failed`, passed > 0 && failed === 0);
  }
} else {
  process.env['CHAOS'] = 'full';
  const { passed, failed } = await vitest(['test/chaos']);
  report(`all tests: ${passed} passed, ${failed} failed`, failed === 0);
  delete process.env['CHAOS'];
}
for (const row of rows) {
  const { failed } = await vitest([...testOf(row), `--testTimeout=${PATIENCE_MS}`], row.without);
  report(`${row.row}: ${row.test}: fails because of: ${row.without}`, failed > 0);
}
process.exit(isWell ? 0 : 1);

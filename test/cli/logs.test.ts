import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeDataFolder } from '../support/data-folder.ts';
import { agentServer, program } from '../support/program.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';

let server: TestServer;

beforeAll(async () => {
  server = await startServer({ graphs: { prints: 'test/fixtures/graphs/prints.ts:graph' } });
});

afterAll(() => server?.[Symbol.asyncDispose]());

async function begin(input: Record<string, unknown>): Promise<string> {
  const { thread_id } = await server.client.threads.create();
  const { run_id } = await server.client.runs.create(thread_id, 'prints', { input });
  if (input['gate'] === undefined) await server.client.runs.join(thread_id, run_id);
  return run_id;
}

const logs = (args: string[]) => agentServer(['logs', ...args, '--url', server.url]);

test('logs --run prints lines with time, level, node and place', async () => {
  const { code, stdout, stderr } = await logs(['--run', await begin({ what: 'each_method' })]);

  expect([code, stderr]).toEqual([0, '']);
  const lines = stdout.trimEnd().split('\n');
  expect(lines).toHaveLength(5);
  expect(lines[0]).toMatch(/^\d\d:\d\d:\d\d DEBUG print: a debug line \(.*prints\.ts:\d+:\d+\)$/);
  expect(lines[1]).toMatch(/^\d\d:\d\d:\d\d INFO {2}print: a log line \{ of: \{ a: 'node' \} \} \(/);
});

test('logs --json prints an object for each line', async () => {
  const { stdout } = await logs(['--run', await begin({ what: 'each_method' }), '--json']);

  expect(
    stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).seq),
  ).toEqual([1, 2, 3, 4, 5]);
});

test('logs prints no terminal control characters', async () => {
  const { stdout } = await logs(['--run', await begin({ what: 'odd' })]);

  expect(stdout).toContain('[31mred[0m');
  expect(stdout).not.toContain('\u001b');
});

test('logs -f follows a run until it ends', async () => {
  const gate = join(await makeDataFolder(), 'gate');
  const followed = logs(['--run', await begin({ what: 'each_method', gate }), '-f']);
  writeFileSync(gate, '');
  const { code, stdout } = await followed;

  expect(code).toBe(0);
  expect(stdout.trimEnd().split('\n')).toHaveLength(6);
  expect(stdout).toContain('after the gate');
});

test('logs -f without a run follows the lines of all runs from a minimum level', async () => {
  const child = program(['logs', '-f', '--level', 'warn', '--assistant', 'prints', '--url', server.url]);
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  // The stream has begun once a line has come; those of runs before it are not in it.
  const runs: string[] = [];
  await until('a line has come', async () => {
    runs.push(await begin({ what: 'each_method' }));
    return printed.split('\n').length > 2;
  });
  child.kill();
  const lines = printed.trimEnd().split('\n');
  expect(runs).toContain(lines[0]?.split(' ')[0]);
  expect(lines[0]).toMatch(/^[\w-]{36} \d\d:\d\d:\d\d WARN {2}print: a warn line \(.*prints\.ts:\d+:\d+\)$/);
  expect(lines.filter((line) => !/ (WARN {2}|ERROR )/.test(line))).toEqual([]);
});

test.each([
  [[], 2, 'logs: --run must be the id of a run'],
  [['-f', '--level', 'loud'], 2, 'logs: --level must be one of debug, info, warn, error'],
  [
    ['-f', '--run', '00000000-0000-4000-8000-000000000000', '--level', 'warn'],
    2,
    'cannot be combined with --run',
  ],
  [['--run', 'x'], 2, 'logs: --run must be the id of a run'],
  [
    ['--run', '00000000-0000-4000-8000-000000000000'],
    1,
    'the server rejected the request with 404: Run not found',
  ],
  [['--run', '00000000-0000-4000-8000-000000000000', '-f'], 1, 'Run not found'],
])('logs %j fails: %i', async (args, code, message) => {
  const ended = await logs(args);
  expect([ended.code, ended.stderr]).toEqual([code, expect.stringContaining(message)]);
});

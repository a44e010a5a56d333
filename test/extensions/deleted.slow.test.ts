import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CopiedSources, copySources } from '../support/copied-sources.ts';
import { expectCoreTests } from '../support/core-tests.ts';
import { ALL_EXTENSIONS, without } from '../support/deleted-extensions.ts';
import { agentServer } from '../support/program.ts';
import { type ServerOptions, startServer, type TestServer } from '../support/server.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** One copy of the sources for all tests: what a server compiled of it is there for the next one. */
let sources: CopiedSources;
beforeAll(async () => {
  sources = await copySources();
});
afterAll(() => sources[Symbol.asyncDispose]());

const OPTIONS: ServerOptions = {
  graphs: { echo: 'test/fixtures/graphs/echo.ts:graph' },
  one_process: 'its sources differ',
};

/** A client creates a thread, executes a run on it and reads its state. */
async function expectServed(server: TestServer): Promise<void> {
  const { threads, runs } = server.client;
  const { thread_id } = await threads.create();
  expect(await runs.wait(thread_id, 'echo', { input: { x: 7 } })).toMatchObject({ x: 7 });
  expect((await threads.getState(thread_id)).values).toMatchObject({ x: 7 });
}

test.each(ALL_EXTENSIONS)('without the extension %s, the server starts and executes runs', async (name) => {
  using _removed = without([name], sources);
  await using server = await startServer({ ...OPTIONS, program: sources.program });
  await expectServed(server);
});

test('without any extension, the types are right, and the server starts on a database that has the tables of all and executes runs', async () => {
  await using server = await startServer(OPTIONS);
  using _removed = without(ALL_EXTENSIONS, sources);
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  const args = [tsc, '--noEmit', '--emitDeclarationOnly', 'false', '-p', 'tsconfig.build.json'];
  const types = promisify(execFile)(process.execPath, args, { cwd: sources.folder });
  expect(await types).toEqual({ stdout: '', stderr: '' });
  const { program } = sources;
  const help = await agentServer(['--help'], { program });
  expect(help).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/^ +start /m) });
  server.program = program;
  await server.restart();
  await expectServed(server);
});

// All of them: `npm run release:check`.
test('without any extension, tests of the queue, the event log and the background work pass', async () => {
  await expectCoreTests(['test/storage/queue', 'test/events', 'test/workers']);
});

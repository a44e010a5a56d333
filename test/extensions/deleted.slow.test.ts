import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { copySources } from '../support/copied-sources.ts';
import { ALL_EXTENSIONS, without } from '../support/deleted-extensions.ts';
import { agentServer } from '../support/program.ts';
import { expectServed, SERVES_ECHO } from '../support/served-without.ts';
import { startServer } from '../support/server.ts';

const ROOT = resolve(import.meta.dirname, '../..');

// Without each of them, and with the tests of the core: `npm run release:check`.
test('without any extension, the types are right, and the server starts on a database that has the tables of all and executes runs', async () => {
  await using sources = await copySources();
  await using server = await startServer(SERVES_ECHO);
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

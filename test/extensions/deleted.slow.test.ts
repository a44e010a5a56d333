import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { type CopiedSources, copySources } from '../support/copied-sources.ts';
import { agentServer } from '../support/program.ts';
import { startServer } from '../support/server.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const ALL = readdirSync(join(ROOT, 'src/extensions'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

/** Deletes the folders of extensions, and what names them in the list. */
async function sourcesWithout(names: readonly string[]): Promise<CopiedSources> {
  const sources = await copySources();
  const list = join(sources.folder, 'src/extensions/index.ts');
  let text = readFileSync(list, 'utf8');
  for (const name of names) {
    rmSync(join(sources.folder, 'src/extensions', name), { recursive: true });
    const found = new RegExp(`import \\{ (\\w+) \\} from '\\./${name}/extension\\.ts';\n`).exec(text);
    expect([name, found]).toEqual([name, expect.anything()]);
    const [line, constant] = found as unknown as [string, string];
    text = text.replace(line, '').replace(new RegExp(`\\b${constant}\\b,?\\s*`), '');
  }
  writeFileSync(list, text);
  return sources;
}

/** The server starts, and a client creates a thread, executes a run on it and reads its state. */
async function expectServed({ program }: CopiedSources): Promise<void> {
  // The configuration of the fixtures has keys of extensions.
  const graphs = { echo: 'test/fixtures/graphs/echo.ts:graph' };
  await using server = await startServer({ graphs, one_process: 'its sources differ' });
  server.program = program;
  await server.restart();
  const { threads, runs } = server.client;
  const { thread_id } = await threads.create();
  expect(await runs.wait(thread_id, 'echo', { input: { x: 7 } })).toMatchObject({ x: 7 });
  expect((await threads.getState(thread_id)).values).toMatchObject({ x: 7 });
}

test.each(ALL)('without the extension %s, the server starts and executes runs', async (name) => {
  await using sources = await sourcesWithout([name]);
  await expectServed(sources);
});

test('without any extension, the types are right, and the server starts and executes runs', async () => {
  await using sources = await sourcesWithout(ALL);
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  const args = [tsc, '--noEmit', '--emitDeclarationOnly', 'false', '-p', 'tsconfig.build.json'];
  const types = promisify(execFile)(process.execPath, args, { cwd: sources.folder });
  expect(await types).toEqual({ stdout: '', stderr: '' });
  const { program } = sources;
  const help = await agentServer(['--help'], { program });
  expect(help).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/^ +start /m) });
  await expectServed(sources);
});

import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CopiedSources, copySources } from '../support/copied-sources.ts';
import { agentServer } from '../support/program.ts';
import { type ServerOptions, startServer, type TestServer } from '../support/server.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const LIST = 'src/extensions/index.ts';
const ALL = readdirSync(join(ROOT, 'src/extensions'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

/** One copy of the sources for all tests: what a server compiled of it is there for the next one. */
let sources: CopiedSources;
let list: string;
beforeAll(async () => {
  sources = await copySources();
  list = readFileSync(join(sources.folder, LIST), 'utf8');
});
afterAll(() => sources[Symbol.asyncDispose]());

/** Takes the folders of extensions away until it is disposed, with what names them in the list. */
function without(names: readonly string[]): Disposable {
  const folderOf = (name: string) => join(sources.folder, 'src/extensions', name);
  const aside = (name: string) => join(sources.folder, `without-${name}`);
  let text = list;
  for (const name of names) {
    renameSync(folderOf(name), aside(name));
    const found = new RegExp(`import \\{ (\\w+) \\} from '\\./${name}/extension\\.ts';\n`).exec(text);
    expect([name, found]).toEqual([name, expect.anything()]);
    const [line, constant] = found as unknown as [string, string];
    text = text.replace(line, '').replace(new RegExp(`\\b${constant}\\b,?\\s*`), '');
  }
  writeFileSync(join(sources.folder, LIST), text);
  return {
    [Symbol.dispose]() {
      for (const name of names) renameSync(aside(name), folderOf(name));
    },
  };
}

// The configuration of the fixtures has keys of extensions.
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

test.each(ALL)('without the extension %s, the server starts and executes runs', async (name) => {
  using _removed = without([name]);
  await using server = await startServer({ ...OPTIONS, program: sources.program });
  await expectServed(server);
});

test('without any extension, the types are right, and the server starts on a database that has the tables of all and executes runs', async () => {
  await using server = await startServer(OPTIONS);
  using _removed = without(ALL);
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

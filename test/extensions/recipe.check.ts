import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { filesOf, ROOT } from '../examples/blocks.ts';
import { type CopiedSources, copySources } from '../support/copied-sources.ts';
import { startServer, type TestServer } from '../support/server.ts';

const PAGE = 'docs/internals/contributing.md';
const FILES = Object.entries(filesOf(PAGE)).filter(([path]) => path.startsWith('src/extensions/'));

/** The sources with the extension that the page builds: its files, and its two parts of the list. */
async function sourcesWithRecipe(): Promise<CopiedSources> {
  const sources = await copySources();
  for (const [path, text] of FILES) {
    mkdirSync(dirname(join(sources.folder, path)), { recursive: true });
    writeFileSync(join(sources.folder, path), text);
  }
  const page = readFileSync(join(ROOT, PAGE), 'utf8');
  const [, line = '', name = ''] =
    /`(import \{ (\w+) \} from '\.\/[\w-]+\/extension\.ts';)`/.exec(page) ?? [];
  const index = join(sources.folder, 'src/extensions/index.ts');
  const list = readFileSync(index, 'utf8').replace(/(EXTENSIONS: [^=]*= \[)/, `$1\n  ${name},`);
  writeFileSync(index, `${line}\n${list}`);
  return sources;
}

function writeConfig(file: string, http: object): void {
  const graphs = { echo: join(ROOT, 'test/fixtures/graphs/echo.ts:graph') };
  writeFileSync(file, JSON.stringify({ graphs, http }));
}

async function countOf({ url }: TestServer, thread_id: string): Promise<unknown> {
  const response = await fetch(`${url}/threads/${thread_id}/run-count`);
  return response.ok ? response.json() : response.status;
}

test('the extension that the guide builds has right types', async () => {
  expect(FILES.length).toBe(4);
  await using sources = await sourcesWithRecipe();
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  const args = [tsc, '--noEmit', '--emitDeclarationOnly', 'false', '-p', 'tsconfig.build.json'];
  const types = promisify(execFile)(process.execPath, args, { cwd: sources.folder });
  expect(await types).toEqual({ stdout: '', stderr: '' });
});

test('the extension that the guide builds counts runs while it is on, keeps the counts while it is off, and loses those of a deleted thread', async () => {
  await using sources = await sourcesWithRecipe();
  const config = join(sources.folder, 'counts.config.yaml');
  writeConfig(config, {});
  await using server = await startServer({ config, one_process: 'its sources differ' });
  server.program = sources.program;
  writeConfig(config, { run_counts: { enabled: true } });
  await server.restart();
  const { threads, runs } = server.client;
  const [{ thread_id }, empty] = [await threads.create(), await threads.create()];
  for (const x of [1, 2]) await runs.wait(thread_id, 'echo', { input: { x } });
  expect(await countOf(server, thread_id)).toEqual({ thread_id, runs: 2 });
  expect(await countOf(server, empty.thread_id)).toMatchObject({ runs: 0 });

  writeConfig(config, {});
  await server.restart();
  expect(await countOf(server, thread_id)).toBe(404);
  await runs.wait(thread_id, 'echo', { input: { x: 3 } });

  writeConfig(config, { run_counts: { enabled: true } });
  await server.restart();
  expect(await countOf(server, thread_id)).toEqual({ thread_id, runs: 2 });
  await threads.delete(thread_id);
  await threads.create({ threadId: thread_id });
  expect(await countOf(server, thread_id)).toEqual({ thread_id, runs: 0 });
});

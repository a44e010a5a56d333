import { spawnSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { command } from '../package/command.ts';

/**
 * `npm run test:oldest [-- file …]`: runs these tests with the oldest versions of LangGraph, its core, its checkpoints and
 * the official client that are supported, those of `package.json` in this folder.
 */
const FILES = [
  'test/graphs/checkpointer.test.ts',
  'test/graphs/interrupts.test.ts',
  'test/graphs/message-streams.test.ts',
  'test/graphs/prune.test.ts',
  'test/graphs/rollback.test.ts',
  'test/graphs/schemas-and-drawings.test.ts',
  'test/graphs/stream-modes.test.ts',
  'test/graphs/subgraphs.test.ts',
  'test/graphs/thread-state.test.ts',
  'test/http/interrupts.test.ts',
  'test/http/run-streams.test.ts',
  'test/http/runs.test.ts',
  'test/http/strict-resume.test.ts',
  'test/http/thread-state.test.ts',
  'test/clients/delta-channels.test.ts',
  'test/clients/js-sdk.test.ts',
  'test/clients/remote-graph.test.ts',
  'test/clients/threads.test.ts',
];

const ROOT = resolve(import.meta.dirname, '../..');

/** Node runs TypeScript from its real path, and from none within `node_modules`: links would find the new versions. */
const COPIED = ['bin', 'examples', 'openapi', 'package.json', 'src', 'templates', 'test', 'vitest.config.ts'];

const folder = await mkdtemp(join(tmpdir(), 'agent-server-oldest-'));
try {
  await Promise.all(COPIED.map((name) => cp(join(ROOT, name), join(folder, name), { recursive: true })));
  await linkPackages(await oldPackages());
  const files = process.argv.slice(2);
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
  const args = [vitest, 'run', ...(files.length > 0 ? files : FILES)];
  process.exitCode = spawnSync(process.execPath, args, { cwd: folder, stdio: 'inherit' }).status ?? 1;
} finally {
  await rm(folder, { recursive: true, force: true, maxRetries: 10 });
}

/** The folder of the old packages, and of those that they need. */
async function oldPackages(): Promise<string> {
  const project = join(folder, 'oldest');
  await mkdir(project);
  await cp(join(import.meta.dirname, 'package.json'), join(project, 'package.json'));
  const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock'];
  await command('npm', args, { cwd: project });
  return join(project, 'node_modules');
}

/** All packages of the repository but those of LangChain: the others of it need newer ones. */
async function linkPackages(old: string): Promise<void> {
  const modules = join(folder, 'node_modules');
  await mkdir(modules);
  const link = (from: string, name: string) => symlink(join(from, name), join(modules, name));
  // One copy, as in a project: graphs give its schemas to LangGraph.
  await rm(join(old, 'zod'), { recursive: true });
  await symlink(join(ROOT, 'node_modules/zod'), join(old, 'zod'));
  const ofLangChain = ['@langchain', 'langsmith'];
  for (const name of await readdir(join(ROOT, 'node_modules')))
    if (![...ofLangChain, 'langchain', '.cache'].includes(name)) await link(join(ROOT, 'node_modules'), name);
  for (const name of ofLangChain) await link(old, name);
}

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { test, vi } from 'vitest';
import { command } from '../package/command.ts';
import { emptyFolder } from '../package/pack.ts';
import { deployStory } from '../support/deploy-story.ts';

const CLI = '@langchain/langgraph-cli';

/** Whose packages are installed from the registry, as those of users are. */
const PROJECT = {
  private: true,
  type: 'module',
  dependencies: { '@langchain/core': '^1.1.48', '@langchain/langgraph': '^1.4.18' },
};

test('the official JavaScript CLI deploys, lists, follows logs and deletes', async () => {
  await using folder = await emptyFolder();
  await command('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', `${CLI}@1.5.1`], {
    cwd: folder.path,
  });
  // A mirror of the registry may have an address that builds reach only if the operator names it.
  const registry = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim();
  vi.stubEnv('npm_config_registry', registry);
  const program = join(folder.path, 'node_modules', CLI, 'dist/cli/cli.mjs');

  await deployStory([process.execPath, program], { files: { 'package.json': JSON.stringify(PROJECT) } });
});

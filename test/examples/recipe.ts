import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Project } from '../support/project.ts';
import { startServer } from '../support/server.ts';
import { NODE } from './blocks.ts';
import { projectOf } from './project-of.ts';

export const KEY = 'key-of-the-recipe';

/** A server with the project of a recipe, and a way to run its scripts. */
export async function recipe(
  page: string,
  { files = {}, env = {} }: { files?: Record<string, string>; env?: Record<string, string> } = {},
) {
  const project = await projectOf(`docs/recipes/${page}.md`, files);
  const server = await startServer({
    config: project.path('agent.config.yaml'),
    api_keys: [KEY],
    env: { AGENT_KEY: KEY, ...env },
    one_process: 'The project keeps files of its own.',
  });
  const run = (...args: string[]) => script(project, args, { AGENT_URL: server.url, AGENT_KEY: KEY });
  return {
    ...{ project, server, run },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await project[Symbol.asyncDispose]();
    },
  };
}

/** Runs Node with these arguments in the folder of a project, and resolves to what it prints. */
export async function script(
  { root }: Project,
  args: readonly string[],
  env: Record<string, string>,
): Promise<string> {
  const run = promisify(execFile);
  return (await run(NODE, args, { cwd: root, env: { ...process.env, NODE_OPTIONS: '', ...env } })).stdout;
}

import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { command } from './command.ts';

const FILES = {
  'package.json': '{ "private": true, "type": "module" }\n',
  'agent.config.yaml':
    'graphs: { greeter: "./greeter.ts:graph", nested: "./nested.ts:graph" }\nui: { greeter: ./card.tsx }\nserver: { port: 0 }\n',
  'card.tsx': 'export default { card: ({ text }: { text: string }) => <b>{text}</b> };\n',
  'greeter.ts': `
import { END, START, StateGraph, StateSchema } from '@langchain/langgraph';
import { z } from 'zod';

const State = new StateSchema({ name: z.string(), greeting: z.string().default('') });

export const graph = new StateGraph(State)
  .addNode('greet', ({ name }: { name: string }) => ({ greeting: \`Hello \${name}!\` }))
  .addEdge(START, 'greet')
  .addEdge('greet', END)
  .compile();
`,
};

/** A project with two graphs and the newest LangGraph, in which the package was installed from its tarball. */
export interface InstalledProject {
  readonly root: string;
  readonly env: NodeJS.ProcessEnv;
  /** A command in the project, such as `npx agent-server check`. Returns what it printed; throws when it fails. */
  run(line: string): Promise<string>;
}

/** `node`: the folder of the Node that everything in it runs on. */
export async function installedProject(given: {
  readonly root: string;
  readonly node: string;
  readonly tarball: string;
}): Promise<InstalledProject> {
  const { root, node, tarball } = given;
  await writeProject(root);
  const project = projectIn(root, node);
  await project.run(`npm install ${tarball} @langchain/langgraph @langchain/core zod`);
  return project;
}

/** Writes the project's own files. `more`: others, by name. */
export async function writeProject(root: string, more: Readonly<Record<string, string>> = {}): Promise<void> {
  await mkdir(root, { recursive: true });
  for (const [name, content] of Object.entries({ ...FILES, ...more }))
    await writeFile(join(root, name), content);
  await copyFile('test/fixtures/graphs/nested-tool.ts', join(root, 'nested.ts'));
}

/** A folder whose commands run on the Node in the folder `node`. `more`: other variables. */
export function projectIn(root: string, node: string, more: NodeJS.ProcessEnv = {}): InstalledProject {
  const env = { ...outsideOfNpm(), PATH: `${node}:${process.env['PATH']}`, ...more };
  const run = (line: string) => {
    const [name = '', ...args] = line.split(' ');
    return command(name, args, { cwd: root, env });
  };
  return { root, env, run };
}

/** `npm run` tells its children where it runs; an npm that is started from there must not believe it. */
function outsideOfNpm(): NodeJS.ProcessEnv {
  const told = /^(npm_(package|lifecycle)_|npm_config_local_prefix$|INIT_CWD$)/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !told.test(name)));
}

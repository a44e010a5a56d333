import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const exec = promisify(execFile);

/** Ordinary dependencies of an agent and its tools: with their own, about 300 packages. */
const DEPENDENCIES = {
  '@langchain/core': '^1',
  '@langchain/langgraph': '^1',
  axios: '^1',
  eslint: '^9',
  express: '^4',
  fastify: '^5',
  lodash: '^4',
  openai: '^6',
  webpack: '^5',
  zod: '^4',
};

/** Each that is added makes another lock file. */
const ADDED = ['kleur', 'dequal', 'mri', 'klona'];

/** A project in a git repository, and the repository that it is pushed to. */
export interface PushedProject {
  /** Path of the repository that is pushed to. */
  readonly remote: string;
  /** Commits a graph whose runs end with `{said: …}`, and pushes. Resolves to the commit. */
  push(says: string): Promise<string>;
  /** Adds a package to the manifest, and writes the lock file anew. */
  addPackage(): Promise<void>;
  /** How many packages the lock file has. */
  packages(): Promise<number>;
}

/** The lock file is made here, by npm: it needs the registry. */
export async function pushedProject(folder: string): Promise<PushedProject> {
  const [remote, clone] = [join(folder, 'remote.git'), join(folder, 'clone')];
  const run = async (command: string, ...args: string[]) =>
    (await exec(command, args, { cwd: clone, maxBuffer: 16 * 1024 ** 2 })).stdout.trim();
  const git = (...args: string[]) =>
    run('git', '-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', ...args);
  const write = (name: string, content: unknown) =>
    writeFile(join(clone, name), typeof content === 'string' ? content : JSON.stringify(content, null, 2));

  const manifest = { name: 'pushed', version: '1.0.0', type: 'module', dependencies: { ...DEPENDENCIES } };
  const added = [...ADDED];
  const lock = async () => {
    await write('package.json', manifest);
    await run('npm', 'install', '--package-lock-only', '--no-audit', '--no-fund');
  };

  await mkdir(clone, { recursive: true });
  await exec('git', ['init', '-q', '--bare', '-b', 'main', remote]);
  await git('init', '-q', '-b', 'main');
  await git('remote', 'add', 'origin', remote);
  await write('langgraph.json', { graphs: { agent: './agent.ts:graph' } });
  // Builds do not see the settings of this user.
  await write('.npmrc', `registry=${await run('npm', 'config', 'get', 'registry')}\n`);
  await lock();

  return {
    remote,
    async push(says) {
      await write('agent.ts', graphThat(says));
      await git('add', '-A');
      await git('commit', '-qm', says);
      await git('push', '-q', 'origin', 'main');
      return await git('rev-parse', 'HEAD');
    },
    async addPackage() {
      const name = added.shift();
      if (name === undefined) throw new Error(`No more than ${ADDED.length} packages can be added.`);
      Object.assign(manifest.dependencies, { [name]: '*' });
      await lock();
    },
    async packages() {
      const { packages } = JSON.parse(await readFile(join(clone, 'package-lock.json'), 'utf8'));
      // The project itself is among them.
      return Object.keys(packages).length - 1;
    },
  };
}

const graphThat = (
  says: string,
) => `import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
export const graph = new StateGraph(Annotation.Root({ said: Annotation }))
  .addNode('say', () => ({ said: ${JSON.stringify(says)} }))
  .addEdge(START, 'say')
  .addEdge('say', END)
  .compile();
`;

import { mkdir, rm, symlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { PACKAGES, type Project, project } from '../support/project.ts';

/** A project in the shape of a public one. */
export interface Layout {
  readonly files: Readonly<Record<string, string>>;
  /** The packages that are installed; all of this repository by default. */
  readonly packages?: readonly string[];
}

/** What `npm install --omit=dev` installs for a graph. */
const PRODUCTION = ['@langchain/core', '@langchain/langgraph', '@langchain/langgraph-sdk', 'zod'];

/** Writes the project and installs its packages, without a registry. */
export async function installed({ files, packages }: Layout): Promise<Project> {
  const folder = await project({});
  if (packages !== undefined) {
    await rm(folder.path('node_modules'));
    for (const name of packages) {
      await mkdir(dirname(folder.path(`node_modules/${name}`)), { recursive: true });
      await symlink(`${PACKAGES}/${name}`, folder.path(`node_modules/${name}`));
    }
  }
  await folder.write(files);
  return folder;
}

/** A graph whose runs return `{ said }`, the value of the expression `said`. */
const graph = (said: string, imports = '') => `
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
${imports}
const State = Annotation.Root({ said: Annotation<unknown>() });
export const graph = new StateGraph(State)
  .addNode('say', async (_state, config) => ({ said: ${said} }))
  .addEdge(START, 'say')
  .addEdge('say', END)
  .compile();
`;

const json = (document: object) => JSON.stringify(document, null, 2);

/** With the keys that templates and generators add, and that no server reads. */
const langgraphJson = (graphs: object, more: object = {}) =>
  json({
    ...{ name: 'my-agents', description: 'Agents of ours.', version: '0.0.1', build_command: 'pnpm build' },
    ...{ node_version: '20', dockerfile_lines: [], dependencies: ['.'], graphs, ...more },
  });

/** As the templates for LangGraph.js: everything of the editor, the type checker and the tests is a development dependency. */
export const WITHOUT_DEVELOPMENT_DEPENDENCIES: Layout = {
  packages: PRODUCTION,
  files: {
    'langgraph.json': langgraphJson({ agent: './src/agent/graph.ts:graph' }, { env: '.env' }),
    'package.json': json({
      type: 'module',
      devDependencies: { '@tsconfig/recommended': '^1.0.7', 'type-fest': '^4.0.0', vitest: '^3.0.0' },
    }),
    'tsconfig.json': `{
  // As the template has it.
  "extends": "@tsconfig/recommended/tsconfig.json",
  "compilerOptions": { "target": "ES2021", "types": ["vitest/globals", "node"], "jsx": "react-jsx", },
}`,
    'src/agent/graph.ts': graph(
      'shout(Tone.loud)',
      `import type { RunnableConfig } from '@langchain/core/runnables';
import { Simplify } from 'type-fest';
import { shout, Tone } from './tools.js';
export type Config = Simplify<RunnableConfig>;`,
    ),
    'src/agent/tools.ts': `/// <reference types="vitest/globals" />
import type { Opaque } from 'type-fest';
export enum Tone { loud = 'HELLO' }
export const shout = (tone: Tone): Opaque<string> => tone;`,
    'src/agent/graph.test.ts': "import { test } from 'vitest';\ntest('is not loaded', () => {});",
  },
};

/** A monorepo: the agent has its paths from the root, and every package extends a configuration that is not installed. */
export const MONOREPO: Layout = {
  packages: PRODUCTION,
  files: {
    'tsconfig.base.json': json({
      extends: '@company/tsconfig/node.json',
      compilerOptions: { baseUrl: '.', paths: { '@company/shared/*': ['packages/shared/src/*'] } },
    }),
    'langgraph.json': langgraphJson({ agent: './apps/agent/src/graph.ts:graph' }),
    'apps/agent/tsconfig.json': json({ extends: ['@tsconfig/node20', '../../tsconfig.base.json'] }),
    'apps/agent/src/graph.ts': graph(
      "word + (await import('./later.js')).later",
      "import { word } from '@company/shared/word';",
    ),
    'apps/agent/src/later.ts':
      "import { word } from '@company/shared/word';\nexport const later = word.length;",
    'packages/shared/tsconfig.json': json({ extends: '@company/tsconfig/library.json' }),
    'packages/shared/src/word.ts': "import { kept } from './kept.js';\nexport const word: string = kept;",
    'packages/shared/src/kept.ts': "export const kept = 'shared';",
  },
};

/** A monorepo in the middle of an upgrade: one app still has an old LangGraph.js of its own. */
export const MIXED_VERSIONS: Layout = {
  files: {
    'langgraph.json': langgraphJson({ new: './apps/new/graph.ts:graph', old: './apps/old/graph.ts:graph' }),
    'apps/new/graph.ts': graph("'new'"),
    'apps/old/graph.ts': graph("'old'"),
    'apps/old/node_modules/@langchain/langgraph/package.json': json({
      ...{ name: '@langchain/langgraph', version: '0.2.74', type: 'module', exports: './index.js' },
    }),
    // Old only by its number.
    'apps/old/node_modules/@langchain/langgraph/index.js': `export * from '${import.meta.resolve('@langchain/langgraph')}';`,
  },
};

/** Headers of the request configure the graph. */
export const CONFIGURABLE_HEADERS: Layout = {
  files: {
    'langgraph.json': langgraphJson(
      { agent: './graph.ts:graph' },
      { http: { configurable_headers: { includes: ['x-github-*'], excludes: ['x-github-secret'] } } },
    ),
    'graph.ts': graph(
      "[config.configurable['x-github-login'], config.configurable['x-github-secret'] ?? null]",
    ),
  },
};

export const OWN_AUTH: Layout = {
  files: {
    'langgraph.json': langgraphJson(
      { agent: './src/graph.ts:graph' },
      { auth: { path: './src/auth.ts:auth', disable_studio_auth: true } },
    ),
    'src/auth.ts': `
import { Auth, HTTPException } from '@langchain/langgraph-sdk/auth';
export const auth = new Auth()
  .authenticate(async (request: Request) => {
    const token = request.headers.get('authorization');
    if (token !== 'Bearer of-alice') throw new HTTPException(401, { message: 'who are you?' });
    return { identity: 'alice', permissions: [] };
  })
  .on('*', ({ user }) => ({ owner: user.identity }));`,
    'src/graph.ts': graph('config.configurable.langgraph_auth_user_id'),
  },
};

/** Components for a chat, whose compiler options are not installed either. */
export const GENERATIVE_UI: Layout = {
  packages: [...PRODUCTION, 'react', 'react-dom'],
  files: {
    'langgraph.json': langgraphJson(
      { agent: './src/agent.ts:graph' },
      { ui: { agent: './src/ui/index.tsx' }, ui_config: { shared: ['nuqs'] } },
    ),
    'tsconfig.json': json({ extends: '@tsconfig/vite-react', compilerOptions: { jsx: 'react-jsx' } }),
    'src/agent.ts': graph("'see the card'"),
    'src/ui/index.tsx':
      "import './style.css';\nimport { Card } from './card';\nexport default { card: Card };",
    'src/ui/card.tsx': `import type { FC } from 'react';
import { useQueryState } from 'nuqs';
export const Card: FC<{ title: string }> = ({ title }) => <p className="card">{useQueryState(title)}</p>;`,
    'src/ui/style.css': '.card { color: teal; }',
  },
};

const NUMBERS = Array.from({ length: 14 }, (_, index) => index + 1);

/** One of many graphs imports what is not installed. */
export const ONE_BROKEN: Layout = {
  files: {
    'langgraph.json': langgraphJson(
      Object.fromEntries(NUMBERS.map((number) => [`graph_${number}`, `./src/graph-${number}.ts:graph`])),
    ),
    ...Object.fromEntries(
      NUMBERS.map((number) => [
        `src/graph-${number}.ts`,
        graph(`${number}`, number === 9 ? "import { chromium } from 'playwright-absent';\nchromium;" : ''),
      ]),
    ),
  },
};

/** Graphs call their own server by its port and by its URL, with a client that is created as they load. */
export const CALLS_ITS_SERVER: Layout = {
  files: {
    'langgraph.json': langgraphJson(
      { by_port: './src/by-port.ts:graph', by_url: './src/by-url.ts:graph', called: './src/called.ts:graph' },
      { env: { LANGGRAPH_API_URL: 'http://localhost:54367' } },
    ),
    ...Object.fromEntries(
      Object.entries({
        'src/by-port.ts': `\`http://localhost:\${process.env.PORT}\``,
        'src/by-url.ts': 'process.env.LANGGRAPH_API_URL',
      }).map(([file, apiUrl]) => [
        file,
        graph(
          "(await client.runs.wait(null, 'called', { input: { said: '' } })).said",
          `import { Client } from '@langchain/langgraph-sdk';\nconst client = new Client({ apiUrl: ${apiUrl} });`,
        ),
      ]),
    ),
    'src/called.ts': graph("'called'"),
  },
};

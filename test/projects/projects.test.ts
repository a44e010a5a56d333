import { Client } from '@langchain/langgraph-sdk';
import { expect, test } from 'vitest';
import packageFile from '../../package.json' with { type: 'json' };
import { openApp } from '../support/app.ts';
import { naming } from '../support/naming.ts';
import { startServer } from '../support/server.ts';
import {
  CALLS_ITS_SERVER,
  CONFIGURABLE_HEADERS,
  GENERATIVE_UI,
  installed,
  type Layout,
  MIXED_VERSIONS,
  MONOREPO,
  ONE_BROKEN,
  OWN_AUTH,
  WITHOUT_DEVELOPMENT_DEPENDENCIES,
} from './layouts.ts';

const REQUIRED = packageFile.peerDependencies['@langchain/langgraph'];

/** A server of the project with all its graphs. */
async function serve(layout: Layout) {
  const folder = await installed(layout);
  const { graphs: named } = JSON.parse(layout.files['langgraph.json'] as string);
  const graphs = Object.keys(named);
  const app = await openApp({ graphs, folder: folder.root });
  return {
    ...app,
    graphs,
    said: async (graph: string, headers?: Record<string, string>) => {
      const { status, body } = await app.post(
        '/runs/wait',
        { assistant_id: graph, input: { said: '' } },
        headers,
      );
      return body.said ?? body.__error__?.error ?? status;
    },
    warnings: () => app.log.filter(({ level }) => level === 'warn').map(({ message }) => message),
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

type Served = Awaited<ReturnType<typeof serve>>;

const STORIES: readonly [string, Layout, (served: Served) => Promise<void>][] = [
  [
    'installed without its development dependencies is served, and one warning names the missing configuration',
    WITHOUT_DEVELOPMENT_DEPENDENCIES,
    async ({ said, warnings }) => {
      expect(await said('agent')).toBe('HELLO');
      expect(warnings()).toEqual([naming('tsconfig.json', '@tsconfig/recommended/tsconfig.json')]);
    },
  ],
  [
    'whose tsconfig.json extends what is missing keeps the paths that are there',
    MONOREPO,
    async ({ said, warnings }) => {
      expect(await said('agent')).toBe('shared6');
      expect(warnings()).toEqual([
        naming('apps/agent/tsconfig.json', '@tsconfig/node20', '@company/tsconfig/node.json'),
      ]);
    },
  ],
  [
    'with a new and an old LangGraph.js serves both, and one warning names the old and the required version',
    MIXED_VERSIONS,
    async ({ said, warnings }) => {
      expect([await said('new'), await said('old')]).toEqual(['new', 'old']);
      expect(warnings()).toEqual([naming('0.2.74', 'apps/old/node_modules', REQUIRED)]);
    },
  ],
  [
    'with configurable_headers gives its graphs those headers, and no others',
    CONFIGURABLE_HEADERS,
    async ({ said }) => {
      const headers = { 'x-github-login': 'octocat', 'x-github-secret': 'hidden' };
      expect(await said('agent', headers)).toEqual(['octocat', null]);
    },
  ],
  [
    'with its own auth lets in whom its handler knows',
    OWN_AUTH,
    async ({ said }) => {
      expect(await said('agent')).toBe(401);
      expect(await said('agent', { authorization: 'Bearer of-alice' })).toBe('alice');
    },
  ],
  [
    'with a generative UI serves its components',
    GENERATIVE_UI,
    async ({ said, post, get }) => {
      expect(await said('agent')).toBe('see the card');
      expect((await post('/ui/agent', { name: 'card' })).text).toContain('/ui/agent/entrypoint.js');
      expect((await get('/ui/agent/entrypoint.js')).text).toContain('"react/jsx-runtime"');
      expect((await get('/ui/agent/entrypoint.css')).text).toContain('teal');
    },
  ],
  [
    'of fourteen graphs with one that is broken serves the other thirteen',
    ONE_BROKEN,
    async ({ graphs, said }) => {
      const answers = await Promise.all(graphs.map((graph) => said(graph)));
      expect(answers).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 'GraphLoadError', 10, 11, 12, 13, 14]);
    },
  ],
];

test.each(STORIES)('a project %s', async (_, layout, story) => {
  await using served = await serve(layout);
  await story(served);
});

test('a project whose graphs call their server by PORT and LANGGRAPH_API_URL reaches it', async () => {
  await using folder = await installed(CALLS_ITS_SERVER);
  await using server = await startServer({
    config: folder.path('langgraph.json'),
    one_process: 'each process has a port of its own',
  });
  const client = new Client({ apiUrl: server.url });
  const said = async (graph: string) =>
    (await client.runs.wait(null, graph, { input: { said: '' } })) as object;

  expect([await said('by_port'), await said('by_url')]).toEqual([{ said: 'called' }, { said: 'called' }]);
  expect(server.log.filter(({ level }) => level === 'warn').map(({ message }) => message)).toEqual([
    naming('langgraph.json', 'name', 'description', 'version', 'build_command'),
  ]);
});

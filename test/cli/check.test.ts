import { expect, test } from 'vitest';
import { naming } from '../support/naming.ts';
import { agentServer } from '../support/program.ts';
import { project } from '../support/project.ts';

const GRAPH = 'export const graph = { stream() {}, getState() {} };\n';

const OWN_MEMORY = `
import { Annotation, END, InMemoryStore, MemorySaver, START, StateGraph } from '@langchain/langgraph';
const builder = new StateGraph(Annotation.Root({ n: Annotation() }))
  .addNode('say', () => ({ n: 1 })).addEdge(START, 'say').addEdge('say', END);
export const plain = builder.compile();
export const own = builder.compile({ checkpointer: new MemorySaver(), store: new InMemoryStore() });
`;

const lines = (stdout: string) =>
  stdout
    .trim()
    .split('\n')
    .map((line) => line.trim().replace(/ {2,}/g, ' '));

test('check reports every graph by its name and succeeds when all load', async () => {
  await using folder = await project({
    'agent.config.yaml': 'graphs: { one: "./one.mjs:graph", other: "./one.mjs:graph" }',
    'one.mjs': GRAPH,
  });

  const { code, stdout, stderr } = await agentServer(['check'], { cwd: folder.root });

  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toBe('  ok      one    ./one.mjs:graph\n  ok      other  ./one.mjs:graph\n');
});

test('check notes a checkpointer and a store that the server replaces', async () => {
  await using folder = await project({
    'agent.config.yaml': 'graphs: { plain: "./graphs.mjs:plain", own: "./graphs.mjs:own" }',
    'graphs.mjs': OWN_MEMORY,
  });

  const { code, stdout } = await agentServer(['check'], { cwd: folder.root });

  expect(code).toBe(0);
  expect(lines(stdout)).toEqual([
    'ok plain ./graphs.mjs:plain',
    'ok own ./graphs.mjs:own',
    expect.stringMatching(/^note own .*checkpointer and store/),
  ]);
});

test('check reports why a graph does not load, and fails', async () => {
  await using folder = await project({
    'agent.config.yaml':
      'graphs: { good: "./one.mjs:graph", gone: "./gone.ts:graph", throws: "./throws.ts:graph", half: "./half.mjs:graph" }',
    'one.mjs': GRAPH,
    'half.mjs': "import { tools } from './tools.mjs';\nexport const graph = tools;\n",
    'throws.ts': "throw new Error('no model is configured');",
  });

  const { code, stdout } = await agentServer(['check'], { cwd: folder.root });

  expect(code).toBe(1);
  expect(stdout.split('\n').map((line) => line.trim().replace(/ {2,}/g, ' '))).toEqual([
    'ok good ./one.mjs:graph',
    expect.stringMatching(/^failed gone .*\.\/gone\.ts$/),
    expect.stringMatching(/^failed throws .*: no model is configured$/),
    expect.stringMatching(/^failed half .*half\.mjs:1 .*'tools\.mjs'/),
    '',
  ]);
});

test('check calls factories with an empty configuration, as the first run would, unless it is told not to', async () => {
  await using folder = await project({
    'agent.config.yaml':
      'graphs: { works: "./made.mjs:works", throws: "./made.mjs:throws", asks: "./made.mjs:asks", plain: "./made.mjs:none" }',
    'made.mjs': `
      const graph = { stream() {}, getState() {} };
      setInterval(() => {}, 1000);
      export const works = async (config, { accessContext }) => {
        if (accessContext !== 'threads.create_run') throw new Error(accessContext);
        return graph;
      };
      export const throws = () => { throw new Error('no tenant is configured'); };
      export const asks = ({ configurable }) => configurable.model.toLowerCase() && graph;
      export const none = () => 'no graph';
    `,
  });

  const called = await agentServer(['check'], { cwd: folder.root });
  const loaded = await agentServer(['check', '--no-factories'], { cwd: folder.root });

  expect(called.code).toBe(1);
  expect(lines(called.stdout)).toEqual([
    'ok works ./made.mjs:works',
    naming('failed throws', 'no tenant is configured'),
    naming('failed asks', 'toLowerCase'),
    naming('failed plain', 'string'),
  ]);
  expect(loaded.code).toBe(0);
  expect(lines(loaded.stdout)).toEqual(
    ['works', 'throws', 'asks', 'plain'].map((name) => expect.stringMatching(`^ok ${name} `)),
  );
});

test('check fails if the code of the project ends the process with success', async () => {
  await using folder = await project({
    'agent.config.yaml': 'graphs: { ends: "./ends.mjs:graph" }',
    'ends.mjs': 'process.exit(0);',
  });

  const { code, stdout, stderr } = await agentServer(['check'], { cwd: folder.root });

  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toEqual(naming('agent-server: check: ', 'ended the process'));
});

test.each([
  ['unhandled rejection', "void Promise.reject(new Error('stray'));"],
  ['uncaught exception', "process.nextTick(() => { throw new Error('stray'); });"],
])('check warns of an %s while a graph loads, and still reports every graph', async (what, code_of_graph) => {
  await using folder = await project({
    'agent.config.yaml': 'graphs: { strays: "./strays.mjs:graph", one: "./one.mjs:graph" }',
    // The import ends only after the error.
    'strays.mjs': `${code_of_graph}\nawait new Promise((done) => setTimeout(done, 10));\n${GRAPH}`,
    'one.mjs': GRAPH,
  });

  const { code, stdout, stderr } = await agentServer(['check'], { cwd: folder.root });

  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: naming('agent-server: ', what, 'stray', 'strays.mjs'),
  });
  expect(lines(stdout)).toEqual(['ok strays ./strays.mjs:graph', 'ok one ./one.mjs:graph']);
});

test('check builds every UI too', async () => {
  await using folder = await project({
    'agent.config.yaml': 'graphs: { one: "./one.mjs:graph" }\nui: { one: ./card.tsx, other: ./broken.tsx }',
    'one.mjs': GRAPH,
    'card.tsx': 'export default { card: () => <p /> };',
    'broken.tsx': "import { Card } from './gone';\nexport default { card: Card };",
  });

  const { code, stdout } = await agentServer(['check'], { cwd: folder.root });

  expect(code).toBe(1);
  expect(stdout.split('\n').map((line) => line.trim().replace(/ {2,}/g, ' '))).toEqual([
    'ok one ./one.mjs:graph',
    'ok ui one ./card.tsx',
    expect.stringMatching(/^failed ui other .*broken\.tsx:1:21: .*".\/gone"$/),
    '',
  ]);
});

test('check loads handlers, routes and tools of the project as the server does', async () => {
  await using folder = await project({
    'agent.config.yaml':
      'graphs: { one: "./one.mjs:graph" }\n' +
      'auth: { path: "./own.mjs:auth" }\nhttp: { app: "./own.mjs:app" }\nmcp: { app: "./own.mjs:tools" }',
    'one.mjs': GRAPH,
    'own.mjs':
      "import { Auth } from '@langchain/langgraph-sdk/auth';\n" +
      'export const auth = new Auth().authenticate(() => ({ identity: "me" }));\n' +
      "export const app = { fetch: () => new Response('') };\nexport const tools = () => {};\n",
  });
  const good = await agentServer(['check'], { cwd: folder.root });
  expect(good).toMatchObject({ code: 0, stderr: '' });
  expect(lines(good.stdout)).toEqual([
    'ok one ./one.mjs:graph',
    'ok auth.path ./own.mjs:auth',
    'ok http.app ./own.mjs:app',
    'ok mcp.app ./own.mjs:tools',
  ]);

  await folder.write({
    'own.mjs': 'export const auth = {};\nexport const app = 1;\nexport const other = 1;\n',
  });
  const bad = await agentServer(['check'], { cwd: folder.root });
  expect(bad).toMatchObject({ code: 1, stderr: '' });
  expect(lines(bad.stdout)).toEqual([
    'ok one ./one.mjs:graph',
    expect.stringMatching(/^failed auth\.path \S.*/),
    expect.stringMatching(/^failed http\.app \S.*/),
    expect.stringMatching(/^failed mcp\.app \.\/own\.mjs .*'tools'.*: app, auth, other$/),
  ]);
});

test('check gives graphs the variables of the env key, unless a variable is already set and not empty', async () => {
  await using folder = await project({
    'agent.config.yaml': 'graphs: { one: "./one.mjs:graph" }\nenv: .env',
    '.env': 'FROM_FILE=file\nFROM_BOTH=file\nEMPTY=file\n',
    'one.mjs':
      'const { FROM_FILE, FROM_BOTH, EMPTY, LANGCHAIN_CALLBACKS_BACKGROUND } = process.env;' +
      "throw new Error([FROM_FILE, FROM_BOTH, EMPTY, LANGCHAIN_CALLBACKS_BACKGROUND].join(' '));",
  });
  const env = { FROM_BOTH: 'environment', EMPTY: '' };

  const { stdout } = await agentServer(['check'], { cwd: folder.root, env });

  expect(stdout).toContain('failed to load: file environment file false');
});

test.each(['check', 'start', 'dev'])(
  '%s reports every problem of a configuration in a line, exit code 2',
  async (command) => {
    await using folder = await project({
      'langgraph.json': '{"graphs": {"a": "./a.ts"}, "runs": {"concurency": 1}}',
    });

    const ended = await agentServer([command], { cwd: folder.root, env: { PORT: 'x' } });

    expect({ ...ended, stderr: ended.stderr.split('\n').sort() }).toEqual({
      code: 2,
      stdout: '',
      stderr: [
        '',
        naming('agent-server: PORT: server.port: ', 65535),
        naming('agent-server: langgraph.json: graphs.a: ', './agent.ts:graph'),
        naming('agent-server: langgraph.json: runs.concurency: ', 'runs.concurrency?'),
      ],
    });
  },
);

test('check reports a configuration key without effect once', async () => {
  await using folder = await project({
    'agent.config.yaml': 'graphs: { one: "./one.mjs:graph" }\ncheckpointer: { backend: mine }',
    'one.mjs': GRAPH,
  });

  const { code, stderr } = await agentServer(['check'], { cwd: folder.root });

  expect(code).toBe(0);
  expect(stderr).toEqual(naming('agent-server: checkpointer.backend: '));
});

test.each([
  ['./one.mjs:embed', 0, 'ok      store.index  ./one.mjs:embed'],
  ['./one.mjs:gone', 1, "failed  store.index  ./one.mjs has no export 'gone', only: embed, graph"],
  ['cohere:embed-v4.0', 1, 'failed  store.index  the package @langchain/cohere is not installed'],
])('check loads the embeddings %s of the store', async (embed, expected, line) => {
  await using folder = await project({
    'agent.config.yaml': `graphs: { one: "./one.mjs:graph" }\nstore: { index: { dims: 3, embed: "${embed}" } }`,
    'one.mjs': `${GRAPH}export const embed = () => [];\n`,
  });

  const { code, stdout } = await agentServer(['check'], { cwd: folder.root });

  expect(code).toBe(expected);
  expect(stdout).toContain(line);
});

test('check prints JSON for programs, with the versions in use', async () => {
  await using folder = await project({
    'agent.config.yaml': 'graphs: { good: "./one.mjs:graph", gone: "./gone.ts:graph" }',
    'one.mjs': GRAPH,
  });

  const { code, stdout } = await agentServer(['check', '--json'], { cwd: folder.root });

  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toEqual({
    ok: false,
    agent_server: expect.stringMatching(/^\d+\.\d+\.\d+/),
    node: process.versions.node,
    langgraph: expect.stringMatching(/^1\./),
    warnings: [],
    checks: [
      { name: 'good', file: './one.mjs:graph', ok: true },
      { name: 'gone', file: './gone.ts:graph', ok: false, error: expect.any(String) },
    ],
  });
});

test('check and doctor name a LangGraph.js that is too old, and do not fail because of it', async () => {
  await using folder = await project({
    'agent.config.yaml': 'graphs: { one: "./app/one.mjs:graph" }\nstorage: { url: "sqlite::memory:" }',
    'app/one.mjs': GRAPH,
    'app/node_modules/@langchain/langgraph/package.json':
      '{"name": "@langchain/langgraph", "version": "0.3.12"}',
  });
  const names = naming('0.3.12', 'app/node_modules/@langchain/langgraph', '>=1.4.18 <2');
  const checked = await agentServer(['check', '--json'], { cwd: folder.root });
  const examined = await agentServer(['doctor', '--json'], { cwd: folder.root });

  expect(checked.code).toBe(0);
  expect(checked.stderr).toEqual(names);
  expect(JSON.parse(checked.stdout)).toMatchObject({ ok: true, warnings: [names] });
  expect(JSON.parse(examined.stdout).findings).toContainEqual(
    expect.objectContaining({ check: 'project', level: 'notice', message: names }),
  );
});

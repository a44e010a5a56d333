import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { failure, naming } from '../support/naming.ts';
import { project } from '../support/project.ts';

async function loadJson(document: unknown, environment = {}) {
  await using folder = await project({
    'langgraph.json': JSON.stringify(document),
    '.env': 'OPENAI_API_KEY=x',
  });
  return await loadConfig({ cwd: folder.root, environment });
}

const GRAPHS = { agent: './src/agent.ts:graph' };

test('a project of the official server runs unchanged', async () => {
  const { config, warnings } = await loadJson({
    $schema: 'https://example.org/langgraph.json',
    node_version: '20',
    dockerfile_lines: [`RUN echo \${NOT_OURS}`],
    dependencies: ['.'],
    graphs: GRAPHS,
    env: '.env',
  });

  expect(config.graphs).toEqual([
    { graph_id: 'agent', path: './src/agent.ts', export: 'graph', description: null },
  ]);
  expect(config.env).toEqual({ OPENAI_API_KEY: 'x' });
  expect(warnings).toEqual([]);
});

test.each([
  'python_version',
  'pip_config_file',
  'pip_installer',
  'source',
  'keep_pkg_tools',
  'base_image',
  'image_distro',
  'docker_compose_file',
  '_INTERNAL_docker_tag',
  'api_version',
  'node_loader',
])('%s, which only affects images, is accepted without a warning', async (key) => {
  expect((await loadJson({ graphs: GRAPHS, [key]: 'anything' })).warnings).toEqual([]);
});

test('custom routes are configured as in the official server', async () => {
  const { config, warnings } = await loadJson({
    graphs: GRAPHS,
    http: { app: './app.ts:app', disable_store: true, configurable_headers: { include: ['x-*'] } },
  });

  expect(config.http).toMatchObject({ disable_store: true });
  expect(config.http.configurable_headers).toEqual({ includes: ['x-*'], excludes: [] });
  expect(warnings).toEqual([]);
});

test('LANGGRAPH_HTTP names header lists as langgraph.json does', async () => {
  const environment = { LANGGRAPH_HTTP: '{"configurable_headers": {"include": ["x-*"]}}' };
  const { config, warnings } = await loadJson({ graphs: GRAPHS }, environment);

  expect(config.http.configurable_headers).toEqual({ includes: ['x-*'], excludes: [] });
  expect(warnings).toEqual([]);
});

test('a custom checkpointer backend causes one warning line', async () => {
  const { warnings } = await loadJson({ graphs: GRAPHS, checkpointer: { backend: 'mongo' } });

  expect(warnings).toEqual([naming('checkpointer.backend: ')]);
});

test('LANGGRAPH_CONFIG in the `env` key sets the defaults of the assistants', async () => {
  const env = { LANGGRAPH_CONFIG: '{"agent": {"configurable": {"model": "small"}}}' };

  expect((await loadJson({ graphs: GRAPHS, env })).config.assistants).toEqual({
    agent: { configurable: { model: 'small' } },
  });
  await expect(
    loadJson({ graphs: GRAPHS, assistants: { agent: { configurable: {}, context: {} } } }),
  ).rejects.toThrow(failure(Error, 'assistants.agent', 'configurable', 'context'));
});

test('keys that no server reads cause one warning line', async () => {
  const { config, warnings } = await loadJson({
    ...{ name: 'agents', description: 'Ours.', version: '1.0.0', author: 'us', build_command: 'pnpm build' },
    graphs: GRAPHS,
  });

  expect(config.graphs).toHaveLength(1);
  expect(warnings).toEqual([naming('name', 'description', 'version', 'author', 'build_command')]);
});

test.each([
  ['ath', 'auth'],
  ['chekpointer', 'checkpointer'],
  ['graph', 'graphs'],
])('%s, which looks like a misspelt %s, stops the start', async (key, meant) => {
  await expect(loadJson({ graphs: GRAPHS, [key]: {} })).rejects.toThrow(
    `${key}: unknown key; did you mean ${meant}?`,
  );
});

test.each([
  ['a block of langgraph.json', { 'langgraph.json': '{"graphs": {"a": "./a.ts:a"}, "http": {"name": "x"}}' }],
  ['agent.config.yaml', { 'agent.config.yaml': 'graphs: { a: "./a.ts:a" }\nname: x' }],
])('an unknown key in %s stops the start', async (_, files) => {
  await using folder = await project(files);

  await expect(loadConfig({ cwd: folder.root, environment: {} })).rejects.toThrow('unknown key');
});

import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { problemsOf } from '../support/config.ts';
import { failure, naming } from '../support/naming.ts';
import { project } from '../support/project.ts';

const GRAPHS = 'graphs: { echo: "./echo.ts:graph" }\n';

test.each([
  [
    'a misspelt key',
    'runs: { concurency: 5 }',
    'runs.concurency: unknown key; did you mean runs.concurrency?',
  ],
  ['a misspelt block', 'servr: { port: 1 }', 'servr: unknown key; did you mean server?'],
  ['a key outside its block', 'port: 1', 'port: unknown key; did you mean server.port?'],
  ['an unknown key', 'bananas: 1', 'bananas: unknown key'],
  [
    'a deep key',
    'http: { cors: { origins: "*" } }',
    'http.cors.origins: unknown key; did you mean http.cors.allow_origins?',
  ],
  [
    'defaults of a misspelt graph',
    'assistants: { ehco: { tags: [a] } }',
    'assistants.ehco: no graph has this name; did you mean echo?',
  ],
  [
    'defaults of a missing graph',
    'assistants: { weather: { tags: [a] } }',
    'assistants.weather: no graph has this name; the graphs are echo',
  ],
  [
    'text for a number',
    'runs: { concurrency: many }',
    'runs.concurrency: must be auto, or a whole number of runs from 0 to 10000',
  ],
  [
    'half a run',
    'runs: { concurrency: 1.5 }',
    'runs.concurrency: must be auto, or a whole number of runs from 0 to 10000',
  ],
  [
    'a number below its range',
    'runs: { max_attempts: 0 }',
    'runs.max_attempts: must be a whole number of attempts from 1 to 100',
  ],
  [
    'an assistant with more steps than any run may take',
    'runs: { max_recursion_limit: 50 }\nassistants: { echo: { recursion_limit: 51 } }',
    'assistants.echo.recursion_limit: must not be above runs.max_recursion_limit, which is 50',
  ],
  [
    'a number above its range',
    'server: { port: 70000 }',
    'server.port: must be a whole number from 0 to 65535',
  ],
  [
    'a limit without an end',
    'runs: { timeout_seconds: .inf }',
    'runs.timeout_seconds: must be a whole number of seconds from 1 to 3153600000 (100 years)',
  ],
  [
    'a number beyond all whole ones',
    'store: { ttl: { sweep_interval_minutes: 1e300 } }',
    'store.ttl.sweep_interval_minutes: must be a number of minutes from 0.01 to 525600000 (1000 years)',
  ],
  [
    'a rate of zero',
    'server: { rate_limit: { per_key_per_minute: 0 } }',
    'server.rate_limit.per_key_per_minute: must be a whole number of requests from 1 to 1000000000',
  ],
  [
    'a port that does not exist',
    'webhooks: { url: { allowed_ports: [443, 0] } }',
    'webhooks.url.allowed_ports.1: must be a whole number from 1 to 65535',
  ],
  ['an unknown choice', 'storage: { synchronous: off }', 'storage.synchronous: must be one of full, normal'],
  ['text for a flag', 'crons: { enabled: maybe }', 'crons.enabled: must be true or false'],
  ['text for a block', 'server: here', 'server: must be a map of keys'],
  [
    'a size without a unit',
    'server: { body_limit: big }',
    'server.body_limit: must be a number of bytes from 1kb to 500mb, such as 65536 or 64kb',
  ],
  [
    'an unknown database',
    'storage: { url: "mysql://x" }',
    'storage.url: must begin with sqlite: or postgres://',
  ],
  [
    'a prefix without a slash',
    'http: { mount_prefix: agents }',
    'http.mount_prefix: must be a path like /agents, without a slash at its end',
  ],
])('an invalid value is reported in one line with the path of the key: %s', async (_, yaml, line) => {
  expect(await problemsOf(GRAPHS + yaml)).toEqual([`agent.config.yaml: ${line}`]);
});

test.each([
  ['no graphs', 'server: { port: 1 }', 'graphs: must name at least one graph'],
  ['an empty map of graphs', 'graphs: {}', 'graphs: must name at least one graph'],
  ['a list of graphs', 'graphs: [a]', 'graphs: must be a map of names to path:export'],
  [
    'a graph without an export',
    'graphs: { a: ./a.ts }',
    'graphs.a: must be path:export, such as ./agent.ts:graph',
  ],
  [
    'a graph that is a number',
    'graphs: { a: 5 }',
    'graphs.a: must be path:export, or a map with path and description',
  ],
  ['a graph without a path', 'graphs: { a: { description: x } }', 'graphs.a.path: is required'],
  [
    'a misspelt key of a graph',
    'graphs: { a: { path: "a.ts:g", descripton: x } }',
    'graphs.a.descripton: unknown key; did you mean graphs.a.description?',
  ],
])('an invalid configuration is reported in one line: %s', async (_, yaml, line) => {
  expect(await problemsOf(yaml)).toEqual([`agent.config.yaml: ${line}`]);
});

test('all problems of a configuration are reported at once, each with the place where it was set', async () => {
  const problems = await problemsOf(`${GRAPHS}runs: { concurency: 5 }\nstorage: { url: "\${DB}" }`, {
    environment: { BG_JOB_TIMEOUT_SECS: 'soon', LANGGRAPH_HTTP: '{oops' },
    flags: { 'server.port': 'x' },
  });

  expect([...problems].sort()).toEqual([
    naming('--port: server.port: ', 65535),
    naming('BG_JOB_TIMEOUT_SECS: runs.timeout_seconds: ', 3_153_600_000),
    naming('LANGGRAPH_HTTP: http: ', 'JSON'),
    naming('agent.config.yaml: runs.concurency: ', 'runs.concurrency?'),
    naming('agent.config.yaml: storage.url: ', 'DB'),
  ]);
});

test('a file that is not YAML is reported with line and column', async () => {
  expect(await problemsOf('graphs:\n  a: b: c\n')).toEqual([naming('agent.config.yaml:2:6: ')]);
  expect(await problemsOf('- a list\n')).toEqual([naming('agent.config.yaml: ', 'map')]);
  expect(await problemsOf('graphs: *nowhere\n')).toEqual([naming('agent.config.yaml: ', '*name', '&name')]);
});

const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;

test.each([
  ['JSON', `{"graphs":{"echo":"./echo.ts:graph"},"ui_config":{"a":${nested(100_000)}}}`],
  ['YAML that its parser can read', `${GRAPHS}ui_config: { a: ${nested(200)} }`],
  ['YAML', `${GRAPHS}ui_config: { a: ${nested(100_000)} }`],
  ['YAML in lines', Array.from({ length: 3000 }, (_, i) => `${' '.repeat(i)}a:`).join('\n')],
])('%s that is nested too deeply is reported as one problem', async (_, text) => {
  expect(await problemsOf(text)).toEqual([naming('agent.config.yaml: ', '100 levels')]);
});

test('a variable that is nested too deeply is reported as one problem', async () => {
  expect(await problemsOf(GRAPHS, { environment: { LANGGRAPH_STORE: nested(100_000) } })).toEqual([
    naming('LANGGRAPH_STORE: store: ', '100 levels'),
  ]);
});

test('YAML aliases that expand exponentially are reported as one problem', async () => {
  const list = (item: string) => `[${Array(9).fill(item).join(', ')}]`;
  const lines = [...'bcdefgh'].map((name, i) => `${name}: &${name} ${list(`*${'abcdefg'[i]}`)}`);
  expect(await problemsOf(`a: &a ${list('x')}\n${lines.join('\n')}\n`)).toEqual([
    naming('agent.config.yaml: ', '*name', 'too many values'),
  ]);
});

test('without a file and graphs the error names the files it looked for', async () => {
  await using folder = await project({});

  await expect(loadConfig({ cwd: folder.root, environment: {} })).rejects.toThrow(
    failure(Error, folder.root, 'agent.config.yaml', 'langgraph.json', '--config'),
  );
  await expect(loadConfig({ cwd: folder.root, file: 'x.yaml', environment: {} })).rejects.toThrow(
    `${folder.path('x.yaml')}: file not found`,
  );
});

test('no error line shows a value of the configuration', async () => {
  const secret = 'sk-do-not-show';
  const problems = await Promise.all([
    problemsOf(`${GRAPHS}storage: { url: "mysql://user:${secret}@db" }`),
    problemsOf(`${GRAPHS}server: { api_keys: { a: ${secret} } }`),
    problemsOf(`${GRAPHS}log: { level: ${secret} }`),
    problemsOf(GRAPHS, { environment: { LANGGRAPH_HTTP: secret, N_JOBS_PER_WORKER: secret } }),
    problemsOf(`key: "${secret}" ${secret}: ${secret}\n  ${secret}`),
    problemsOf(`key: !!${secret} *${secret}\n${secret}`),
  ]);

  expect(problems.every((lines) => lines.length > 0)).toBe(true);
  expect(problems.flat().filter((line) => line.includes(secret))).toEqual([]);
});

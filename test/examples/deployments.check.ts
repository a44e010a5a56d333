import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { COMMANDS } from '../../src/cli/all-commands.ts';
import { PACKAGES, type Project, project } from '../support/project.ts';
import { repository } from '../support/repository.ts';
import { blocksOf, inProgram, inShell, onlyBlock, ROOT } from './blocks.ts';
import { type Started, started } from './started.ts';

const PAGE = 'docs/deployments.md';
const run = promisify(execFile);

/** An agent that needs no model and no registry. */
const AGENT = {
  'package.json': JSON.stringify({
    type: 'module',
    scripts: { postinstall: `rm -rf node_modules && ln -s ${PACKAGES} node_modules` },
  }),
  'langgraph.json': '{ "graphs": { "agent": "./agent.ts:graph" } }',
  'agent.ts': `import { MessagesAnnotation, StateGraph } from '@langchain/langgraph';
export const graph = new StateGraph(MessagesAnnotation)
  .addNode('answer', () => ({ messages: [{ role: 'assistant', content: 'I answer questions.' }] }))
  .addEdge('__start__', 'answer')
  .compile();
`,
};

const [key = '', start = '', deploy = '', ask = ''] = (blocksOf(PAGE)[0]?.text ?? '').trim().split('\n');

let host: Project;
let app: Project;
let server: Started;

beforeAll(async () => {
  // The repository is on this machine, and not on GitHub.
  const config = { graphs: { main: './agent.ts:graph' }, deployments: { allow_local_sources: true } };
  host = await project({ ...AGENT, 'agent.config.yaml': JSON.stringify(config) });
  app = await project(AGENT);
  process.env['AGENT_SERVER_API_KEYS'] = key.split('=')[1];
  server = await started(`${key}
${start} --config ${host.path('agent.config.yaml')}`);
});
afterAll(async () => {
  for (const each of [server, app, host]) await each[Symbol.asyncDispose]();
});

test('docs/deployments.md: the first three commands lead from a repository to an answer', async () => {
  await using sources = await repository(AGENT);
  const line = `${deploy} --url ${server.url}`.replace('https://github.com/me/agent.git', sources.url);

  expect(await inProgram('bash', ['-s'], line, server.url)).toBe(`${server.url}/deployments/agent\n`);
  expect(await inProgram('bash', ['-s'], ask, server.url)).toContain('I answer questions.');

  const value = key.split('=')[1] ?? '';
  const list = await fetch(`${server.url}/v2/deployments`, { headers: { 'x-api-key': value } });
  const [{ id }] = ((await list.json()) as { resources: [{ id: string }] }).resources;
  const health = onlyBlock(PAGE, 'sh', '/health');
  const [, told] = await inShell([`KEY=${value} ID=${id}\n`, health], server.url);
  expect(told).toMatchObject({ statuses: [200], complaints: '' });
  expect(JSON.parse(told?.output ?? '')).toMatchObject({
    active_revision: { number: 1 },
    check: { ok: true },
  });
});

test('docs/deployments.md: the GitHub workflow deploys and reports the outcome', async () => {
  const workflow = parse(onlyBlock(PAGE, 'yaml', 'actions/checkout'));
  const { steps } = workflow.jobs.deploy;
  const [, , install, deploying, saying] = steps;

  expect(Object.keys(workflow)).toEqual(['name', 'on', 'concurrency', 'permissions', 'jobs']);
  expect(install.run).toBe('npm ci');
  const { flags = {} } = COMMANDS.find(({ name }) => name === 'deploy') ?? {};
  const given = [...deploying.run.matchAll(/--([a-z-]+)/g)].map(([, flag]) => flag);
  expect(given).toEqual(['name', 'url', 'wait', 'json']);
  expect(given.filter((flag) => !(flag in flags))).toEqual([]);

  const summary = join(app.root, 'summary.md');
  const env = { ...process.env, SERVER: server.url, GITHUB_STEP_SUMMARY: summary };
  // As the runner does, which stops at the first error.
  const step = (line: string) =>
    run('bash', ['-e', '-c', line.replace('npx agent-server', `${ROOT}/bin/agent-server.mjs`)], {
      ...{ cwd: app.root, env: { ...env, PATH: `${ROOT}/node_modules/.bin:${process.env['PATH']}` } },
    });
  await step(deploying.run);
  await app.write({ 'agent.ts': 'throw new Error("no such luck");' });
  const revision = JSON.parse(await readFile(join(app.root, 'revision.json'), 'utf8'));
  expect(revision.status).toBe('DEPLOYED');
  await expect(step(deploying.run)).rejects.toThrow(/DEPLOY_FAILED at step "check": .*no such luck/);
  expect(saying.if).toBe('always()');
  await step(saying.run);
  expect(await readFile(summary, 'utf8')).toMatch(/^Revision \d is DEPLOY_FAILED\. .*no such luck\. .*\n$/);
});

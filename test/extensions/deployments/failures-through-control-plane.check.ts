import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Revision } from '../../../src/extensions/deployments/schemas/deployments.ts';
import { type Files, graphThat, openDeploymentServer, projectThat } from '../../support/deployments.ts';
import { PACKAGES } from '../../support/project.ts';
import { until } from '../../support/until.ts';

const GRAPHS = { agent: './agent.ts:graph' };
const EMBEDDER = 'export const embed = async (texts) => texts.map((text) => [text.length, 1, 1]);\n';
const index = (dims: number) => ({ store: { index: { dims, embed: './embed.ts:embed' } } });
const config = (more: object) => ({ 'langgraph.json': JSON.stringify({ graphs: GRAPHS, ...more }) });
const agent = (code: string) => ({ 'agent.ts': code });
/** What serves while all others fail. */
const STEADY: Files = { ...projectThat('steady'), ...config(index(3)), 'embed.ts': EMBEDDER };
const INSTALL = { install_command: `ln -s ${PACKAGES} node_modules`, build_command: null };
const BY_NPM = { install_command: null };

interface Failing {
  readonly name: string;
  /** In place of those of what serves; null: without it. */
  readonly files?: Readonly<Record<string, string | null>>;
  readonly source_config?: object;
  /** Instead of an upload. */
  readonly git?: { readonly url: string; readonly ref: string };
  readonly fails: readonly [step: string, code: string, hint: RegExp];
}

const BUILDS: Failing[] = [
  {
    name: 'a configuration that is missing',
    files: { 'langgraph.json': null },
    fails: ['config', 'config_missing', /langgraph\.json/],
  },
  {
    name: 'a configuration that is not JSON',
    files: { 'langgraph.json': '{' },
    fails: ['config', 'config_invalid', /position 1/],
  },
  {
    name: 'graphs in Python',
    files: config({ graphs: { agent: './agent.py:graph' } }),
    fails: ['config', 'python_project', /Python/],
  },
  {
    name: 'no package.json',
    source_config: BY_NPM,
    fails: ['config', 'package_json_missing', /install command/],
  },
  {
    name: 'a Node that the server does not run',
    files: { 'package.json': '{"engines":{"node":">=99"}}' },
    fails: ['config', 'engines_not_met', />=99/],
  },
  {
    name: 'a lock file with conflict markers',
    files: { 'package.json': '{"dependencies":{"a":"1"}}', 'package-lock.json': '<<<<<<< HEAD' },
    source_config: BY_NPM,
    fails: ['install', 'lock_file_invalid', /conflict markers/],
  },
  {
    name: 'an install command that fails',
    source_config: { install_command: 'exit 4' },
    fails: ['install', 'install_failed', /exit code 4/],
  },
  {
    name: 'an install command whose program is missing',
    source_config: { install_command: 'no-such-program' },
    fails: ['install', 'command_not_found', /no-such-program/],
  },
  {
    name: 'a build command that fails',
    source_config: { build_command: 'exit 2' },
    fails: ['build', 'build_failed', /exit code 2/],
  },
  {
    name: 'a branch that is missing',
    git: { url: pathToFileURL(`${import.meta.dirname}/../../..`).href, ref: 'no-such-branch' },
    fails: ['source', 'ref_not_found', /no-such-branch/],
  },
  {
    name: 'a repository that is missing',
    git: { url: 'file:///no/such/repository', ref: 'main' },
    fails: ['source', 'repository_not_found', /repository/],
  },
  {
    name: 'a repository in a network that is forbidden',
    git: { url: 'https://127.0.0.1/a.git', ref: 'main' },
    fails: ['source', 'address_forbidden', /private/],
  },
];

const CHECKS: Failing[] = [
  {
    name: 'a configuration without graphs',
    files: config({ graphs: {} }),
    fails: ['check', 'config_invalid', /must name at least one graph/],
  },
  {
    name: 'a variable that has no secret',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the configuration's own form of variables.
    files: config({ store: { index: { dims: 3, embed: '${NOT_SET}' } } }),
    fails: ['check', 'config_invalid', /NOT_SET is not set/],
  },
  {
    name: 'a graph that throws when it is loaded',
    files: agent('throw new Error("no such luck")'),
    fails: ['check', 'graph_failed', /"agent" cannot be loaded: no such luck\./],
  },
  {
    name: 'a graph that cannot be parsed',
    files: agent('export const graph = ('),
    fails: ['check', 'graph_failed', /agent\.ts:1/],
  },
  {
    name: 'a graph whose package is not installed',
    files: agent("import 'no-such-package'"),
    fails: ['check', 'graph_failed', /npm install no-such-package/],
  },
  {
    name: 'a graph that is not exported',
    files: agent('export const other = 1'),
    fails: ['check', 'graph_failed', /no export 'graph', only: other/],
  },
  {
    name: 'a graph whose file is missing',
    files: config({ ...index(3), graphs: { agent: './nothing.ts:graph' } }),
    fails: ['check', 'graph_failed', /no file \.\/nothing\.ts/],
  },
  {
    name: 'a graph without schemas',
    files: agent(
      `${graphThat('x')}Object.defineProperty(graph, 'builder', { get() { throw new Error('no state'); } });`,
    ),
    fails: ['check', 'schemas_failed', /cannot be read: no state\./],
  },
  {
    name: 'a process that exits',
    files: { ...config({}), ...agent('process.exit(3)') },
    fails: ['check', 'project_failed', /process ended 3 times\./],
  },
  {
    name: 'other dimensions of the store',
    files: { ...config(index(4)) },
    fails: ['check', 'store_dims_changed', /is 4, but the stored vectors have 3/],
  },
  {
    name: 'encryption of its own',
    files: config({ encryption: { path: './encryption.ts:encryption' } }),
    fails: ['check', 'encryption_refused', /encryption\.path/],
  },
  {
    name: 'tokens that the server would have to verify',
    files: config({ auth: { jwt: { jwks_url: 'https://example.com/k', issuer: 'a', audience: 'b' } } }),
    fails: ['check', 'jwt_refused', /auth\.path/],
  },
  {
    name: 'auth handlers that are missing',
    files: config({ auth: { path: './auth.ts:auth' } }),
    fails: ['start', 'start_failed', /auth\.path: there is no file \.\/auth\.ts\./],
  },
  {
    name: 'custom routes that throw',
    files: { ...config({ http: { app: './routes.ts:app' } }), 'routes.ts': 'throw new Error("no routes")' },
    fails: ['start', 'start_failed', /http\.app: no routes\./],
  },
];

describe('when a revision fails, the old one keeps serving', () => {
  let server: Awaited<ReturnType<typeof openDeploymentServer>>;
  let id: string;
  let first: Revision;

  beforeAll(async () => {
    server = await openDeploymentServer({ build: undefined, deployments: { allow_local_sources: true } });
    id = (await server.create('steady', { source_config: INSTALL })).id;
    first = await server.deploy(id, STEADY);
    expect(first).toMatchObject({ status: 'DEPLOYED', failure: null });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  async function deployed({ files = {}, source_config = {}, git }: Failing): Promise<Revision> {
    if (git === undefined) {
      const changed = Object.entries({ ...STEADY, ...files }).filter(([, content]) => content !== null);
      const all = Object.fromEntries(changed) as Files;
      const more = { revision_source: 'internal_source', source_config: { ...INSTALL, ...source_config } };
      return server.deploy(id, all, more);
    }
    const patched = await server.send('PATCH', `/v2/deployments/${id}`, {
      revision_source: 'github',
      source_config: { ...INSTALL, repo_url: git.url },
      source_revision_config: { repo_ref: git.ref },
    });
    return server.ended(id, patched.body.latest_revision_id);
  }

  async function isSteady(): Promise<void> {
    expect((await server.get(`/v2/deployments/${id}`)).body.active_revision_id).toBe(first.id);
    expect((await server.run('steady')).body).toMatchObject({ said: 'steady' });
  }

  const cases = [
    ...BUILDS.map((each) => ({ ...each, status: 'BUILD_FAILED' })),
    ...CHECKS.map((each) => ({ ...each, status: 'DEPLOY_FAILED' })),
  ];

  test.each(cases)('$name', async ({ status, ...failing }) => {
    const [step, code, hint] = failing.fails;
    const revision = await deployed(failing);

    expect(revision).toMatchObject({ status, is_active: false, failure: { step, code } });
    const said = revision.failure?.hint ?? '';
    expect(said).toMatch(hint);
    // What is wrong, and what to do: in sentences, on one line, and about the project rather than this machine.
    expect(said).toMatch(/^\S.*[.?!] \S.*\.$/);
    expect(said).not.toMatch(/undefined|\[object|\.\.|server log/);
    expect(said).not.toContain(server.folder);
    const log = await server.post(`/v1/projects/${id}/revisions/${revision.id}/build_logs`, {
      level: 'ERROR',
    });
    expect(log.body.logs.at(-1).message).toContain(said);
    await isSteady();
  });

  test('a revision whose graph never finishes loading can be interrupted, and the next one is built', async () => {
    const endless = await server.push(id, { ...STEADY, ...agent('for (;;) {}') }, { source_config: INSTALL });
    await until('it loads', async () => (await server.revision(id, endless.id)).status === 'DEPLOYING');
    await server.post(`/v2/deployments/${id}/revisions/${endless.id}/interrupt`);
    await isSteady();

    const next = await server.deploy(id, { ...STEADY, ...projectThat('next'), ...config(index(3)) });
    expect(next).toMatchObject({ status: 'DEPLOYED', is_active: true });
    expect((await server.run('steady')).body).toMatchObject({ said: 'next' });
    expect((await server.revision(id, endless.id)).status).toBe('INTERRUPTED');
  });
});

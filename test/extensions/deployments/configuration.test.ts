import { execFileSync } from 'node:child_process';
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ConfigError } from '../../../src/config/errors.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { deploymentSettings } from '../../../src/extensions/deployments/section.ts';
import { deploymentConfig } from '../../../src/extensions/deployments/serving/project.ts';
import { load, problemsOf } from '../../support/config.ts';
import { project } from '../../support/project.ts';

const GRAPHS = 'graphs: { echo: "./echo.ts:graph" }\n';
const ENABLED = 'deployments: { enabled: true }\nserver: { api_keys: one }\n';

test('deployments require authentication, even on loopback', async () => {
  const yaml = `${GRAPHS}deployments: { enabled: true }`;
  expect(await problemsOf(yaml)).toEqual([
    expect.stringContaining('deployments.enabled: requires authentication'),
  ]);
  expect(await problemsOf(`${yaml}\nserver: { api_keys: one }`)).toEqual([]);
  expect(await problemsOf(`${yaml}\nauth: { required: true }`)).toEqual([]);
});

test('a server of deployments needs neither a configuration file nor graphs of its own', async () => {
  await using folder = await project({});
  const withDeployments = (enabled: string) => {
    const environment = { AGENT_SERVER_DEPLOYMENTS: enabled, AGENT_SERVER_API_KEYS: 'one' };
    return loadConfig({ cwd: folder.root, environment });
  };
  expect((await withDeployments('yes')).config.graphs).toEqual([]);
  await expect(withDeployments('no')).rejects.toThrow(ConfigError);
});

test('deployments require the role all', async () => {
  const storage = 'storage: { url: "postgres://db/agents" }';
  const yaml = `deployments: { enabled: true }\nserver: { api_keys: one, role: api }\n${storage}`;
  expect(await problemsOf(yaml)).toEqual([
    expect.stringContaining('deployments.enabled: requires server.role: all'),
  ]);
});

test('the root is for a deployment or for graphs, and for a deployment only if deployments are enabled', async () => {
  const root = { environment: { AGENT_SERVER_ROOT_DEPLOYMENT: 'agent' } };
  expect(await problemsOf(ENABLED, root)).toEqual([]);
  expect(await problemsOf(`${GRAPHS}${ENABLED}`, root)).toEqual([
    expect.stringContaining('cannot be combined with graphs'),
  ]);
  expect(await problemsOf(GRAPHS, root)).toEqual([expect.stringContaining('requires deployments.enabled')]);
});

test('deployments are stored in the data folder, unless their folder is an absolute path', async () => {
  const environment = { AGENT_SERVER_DATA_DIR: '/data' };
  const folderOf = async (...sources: Parameters<typeof load>) =>
    deploymentSettings((await load(...sources)).config).folder;
  const { config } = await load(GRAPHS);

  expect(await folderOf(GRAPHS, { environment })).toBe('/data/.agent-server/deployments');
  expect(await folderOf(`${GRAPHS}deployments: { folder: /srv }`, { environment })).toBe('/srv');
  expect(deploymentSettings(config).folder).toBe(join(config.root, '.agent-server/deployments'));
});

/** What a deployment whose build left these files is served with. */
async function served(files: Readonly<Record<string, string>>, change?: (source: string) => Promise<void>) {
  await using folder = await project({ 'secret.env': 'KEY=secret' });
  await folder.write(
    Object.fromEntries(Object.entries(files).map(([name, text]) => [`build/${name}`, text])),
  );
  await change?.(folder.path('build/source'));
  const { config: server } = await load(ENABLED);
  const built = { root: 'source/app', config_file: 'langgraph.json', isolation: 'none' };
  return await deploymentConfig(
    {
      ...{
        deployment_id: 'one',
        name: 'agent',
        revision_id: 'one',
        was_checked: false,
        canary_percent: null,
      },
      ...{ folder: folder.path('build'), built, secrets: {} },
    },
    { server, database: 'sqlite::memory:', is_protected: true, sectionsOfServer: () => ({}) },
  );
}

const BUILT = JSON.stringify({ graphs: { echo: './echo.ts:graph' }, env: `\${FILE:-../.env}` });

test('a deployment has the variables of a file anywhere in its sources', async () => {
  const { env } = await served({ 'source/app/langgraph.json': BUILT, 'source/.env': 'KEY=value' });
  expect(env).toEqual({ KEY: 'value' });
  expect((await served({ 'source/app/langgraph.json': BUILT })).env).toEqual({});
});

test.each([
  ['configuration', 'app/langgraph.json', { 'source/app/agent.mjs': '' }],
  ['file of variables', '.env', { 'source/app/langgraph.json': BUILT }],
])(
  'a %s that a build replaced by a pipe, or by a link out of its sources, is not read',
  async (_, name, files) => {
    const refused = { code: 'config_outside', message: expect.stringContaining(name) };
    const pipe = async (source: string) => void execFileSync('mkfifo', [join(source, name)]);
    await expect(served(files, pipe)).rejects.toMatchObject(refused);
    const link = (source: string) => symlink(join(source, '../../secret.env'), join(source, name));
    await expect(served(files, link)).rejects.toMatchObject(refused);
  },
);

test('a configuration that a build made huge is not parsed', async () => {
  const files = { 'source/app/langgraph.json': BUILT + ' '.repeat(1024 * 1024) };
  await expect(served(files)).rejects.toMatchObject({ code: 'config_invalid' });
});

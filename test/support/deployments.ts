import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createApp } from '../../src/app.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { LogLine } from '../../src/core/logger.ts';
import type { Deployment, Revision } from '../../src/extensions/deployments/schemas/deployments.ts';
import {
  type BuildRequest,
  type BuildRevision,
  RevisionError,
} from '../../src/extensions/deployments/services/builder.ts';
import { directPostgresSchema, type PostgresSchema, TEST_POSTGRES_URI } from './postgres-schema.ts';
import { PACKAGES } from './project.ts';
import { recordingLogger } from './recording-logger.ts';
import { until } from './until.ts';

export const KEY = 'operator-of-the-tests';

/** Unpacks a tarball, and gives it the packages of this repository instead of installing any. */
export const unpack: BuildRevision = async ({ folder, source, config_path, onStep, log }: BuildRequest) => {
  if (source.kind !== 'tarball')
    throw new RevisionError('fetch', 'no_git', 'Only tarballs are built in tests.');
  onStep('unpack');
  await mkdir(join(folder, 'source'), { recursive: true });
  execFileSync('tar', ['-xzf', source.file, '-C', join(folder, 'source')]);
  await symlink(PACKAGES, join(folder, 'source/node_modules'));
  log({ step: 'unpack', level: 'INFO', message: 'unpacked the sources' });
  const root = join('source', dirname(config_path));
  return { commit: undefined, root, config_file: 'langgraph.json', isolation: 'None: it is a test.' };
};

export type Files = Readonly<Record<string, string>>;

/** A `.tar.gz` of these files. */
export async function tarball(files: Files): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'agent-server-sources-'));
  try {
    for (const [name, content] of Object.entries(files)) {
      await mkdir(dirname(join(folder, 'in', name)), { recursive: true });
      await writeFile(join(folder, 'in', name), content);
    }
    execFileSync('tar', ['-czf', join(folder, 'out.tar.gz'), '-C', join(folder, 'in'), '.']);
    return await readFile(join(folder, 'out.tar.gz'));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const FINAL = ['DEPLOYED', 'BUILD_FAILED', 'DEPLOY_FAILED', 'CREATE_FAILED', 'SKIPPED', 'INTERRUPTED'];

export interface DeploymentServerOptions {
  /** `undefined`: that of the server, with git and package managers. */
  readonly build?: BuildRevision | undefined;
  readonly environment?: Readonly<Record<string, string>>;
  /** In the `deployments` block. */
  readonly deployments?: object;
  /** Further blocks of the configuration. */
  readonly config?: object;
  /** Of another server that has ended, or was killed. */
  readonly folder?: string;
  /** URL of its database. By default a file in the folder, or with `TEST_DATABASE=postgres` a schema. */
  readonly database?: string;
}

/** Of servers with the same folder, one after the other. */
const schemas = new Map<string, PostgresSchema>();

async function schemaFor(folder: string): Promise<PostgresSchema | undefined> {
  if (process.env['TEST_DATABASE'] !== 'postgres' || TEST_POSTGRES_URI === undefined) return undefined;
  const schema = schemas.get(folder) ?? (await directPostgresSchema(TEST_POSTGRES_URI));
  schemas.set(folder, schema);
  return schema;
}

/** A server with deployments in the test's own process, which listens. */
export async function openDeploymentServer(options: DeploymentServerOptions = {}) {
  const folder = options.folder ?? (await mkdtemp(join(tmpdir(), 'agent-server-deployments-')));
  const main = {
    graphs: { main: './main.ts:graph' },
    deployments: { enabled: true, ...options.deployments },
    ...options.config,
  };
  await writeFile(join(folder, 'agent.config.yaml'), JSON.stringify(main));
  await writeFile(join(folder, 'main.ts'), graphThat('main'));
  await symlink(PACKAGES, join(folder, 'node_modules')).catch(() => {});
  const schema = options.database === undefined ? await schemaFor(folder) : undefined;
  const database = options.database ?? schema?.url;
  const log: LogLine[] = [];
  const { config } = await loadConfig({
    cwd: folder,
    environment: {
      ...{ PORT: '0', AGENT_SERVER_API_KEYS: KEY },
      ...(database !== undefined && { DATABASE_URI: database }),
      ...options.environment,
    },
  });
  const logger = recordingLogger('info', (line) => log.push(line));
  const build = 'build' in options ? options.build : unpack;
  const app = await createApp(config, { logger, ...(build && { given: { deployments: build } }) });
  const { url } = await app.listen();
  await app.ready();

  async function send(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
    const response = await fetch(url + path, {
      method,
      headers: {
        'x-api-key': KEY,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') === true;
    return { status: response.status, text, body: isJson && text !== '' ? JSON.parse(text) : undefined };
  }

  async function upload(id: string, files: Files): Promise<string> {
    const { body } = await send('POST', `/v2/deployments/${id}/upload-url`);
    await put(body.upload_url, files);
    return body.object_path;
  }

  async function put(upload_url: string, files: Files): Promise<void> {
    const answer = await fetch(upload_url, {
      method: 'PUT',
      headers: { 'content-type': 'application/gzip', 'x-goog-content-length-range': '0,209715200' },
      body: new Uint8Array(await tarball(files)),
    });
    if (!answer.ok) throw new Error(await answer.text());
  }

  const server = {
    url,
    log,
    folder,
    config,
    send,
    upload,
    put,
    get: (path: string) => send('GET', path),
    post: (path: string, body: unknown = {}) => send('POST', path, body),

    async create(name: string, more: object = {}): Promise<Deployment> {
      return (await send('POST', '/v2/deployments', { name, source: 'internal_source', ...more })).body;
    },

    /** Uploads and queues a revision. */
    async push(id: string, files: Files, more: object = {}): Promise<Revision> {
      const source_tarball_path = await upload(id, files);
      const config = { source_tarball_path, langgraph_config_path: 'langgraph.json' };
      const patched = await send('PATCH', `/v2/deployments/${id}`, {
        source_revision_config: config,
        ...more,
      });
      if (patched.status !== 200) throw new Error(patched.text);
      return (await send('GET', `/v2/deployments/${id}/revisions?limit=1`)).body.resources[0];
    },

    revision: async (id: string, revision_id: string): Promise<Revision> =>
      (await send('GET', `/v2/deployments/${id}/revisions/${revision_id}`)).body,

    /** The revision once its status is final. */
    async ended(id: string, revision_id: string): Promise<Revision> {
      await until(
        `revision ${revision_id} has ended`,
        async () => FINAL.includes((await server.revision(id, revision_id)).status),
        120_000,
      );
      return server.revision(id, revision_id);
    },

    async deploy(id: string, files: Files, more: object = {}): Promise<Revision> {
      return server.ended(id, (await server.push(id, files, more)).id);
    },

    /** Answers of a stateless run of a deployment. */
    async run(name: string, graph = 'agent', input: object = {}) {
      return send('POST', `/deployments/${name}/runs/wait`, { assistant_id: graph, input });
    },

    async close(): Promise<void> {
      await app.stop(0);
    },

    async [Symbol.asyncDispose](): Promise<void> {
      const { body } = schema ? await send('GET', '/v2/deployments?limit=100') : { body: undefined };
      for (const { id } of body?.resources ?? []) await send('DELETE', `/v2/deployments/${id}`);
      await app.stop(0);
      if (options.folder === undefined) await schema?.[Symbol.asyncDispose]();
      if (options.folder === undefined) await rm(folder, { recursive: true, force: true, maxRetries: 10 });
    },
  };
  return server;
}

/**
 * A graph whose runs end with `{said: text, env: …}`; `env` is a variable of the process. Its state is declared with zod,
 * as in other deployments of tests: to read it from types would take the compiler three seconds for each revision.
 */
export function graphThat(says: string, variable = 'NONE'): string {
  return `import { END, START, StateGraph } from '@langchain/langgraph';
import { z } from 'zod';
const State = z.object({ said: z.any(), env: z.any(), pid: z.any() });
export const graph = new StateGraph(State)
  .addNode('say', () => ({ said: ${JSON.stringify(says)}, env: process.env.${variable} ?? null, pid: process.pid }))
  .addEdge(START, 'say')
  .addEdge('say', END)
  .compile();
`;
}

/** Sources of a project with the graph `agent`. */
export function projectThat(says: string, variable?: string): Files {
  return {
    'langgraph.json': JSON.stringify({ graphs: { agent: './agent.ts:graph' }, node_version: '24' }),
    'agent.ts': graphThat(says, variable),
  };
}

import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { makeDataFolder } from './data-folder.ts';
import { postgresSchema, TEST_POSTGRES_URI } from './postgres-schema.ts';
import { type RoundRobin, roundRobin } from './round-robin.ts';
import { type LogEntry, type ServerOptions, TestServer } from './server-process.ts';
import type { TestDatabase } from './test-database.ts';

/** Two files of tests run at once, so there are twice as many processes; the database has connections for all. */
const CONNECTIONS = '12';

/** Processes with roles on one PostgreSQL. */
export interface Cluster extends AsyncDisposable {
  /** Of the proxy before those that answer requests. */
  readonly url: string;
  readonly apis: readonly TestServer[];
  readonly workers: readonly TestServer[];
  readonly proxy: RoundRobin;
}

/** Two processes that answer requests in turn, and two that execute runs. All four start at once on an empty database. */
export async function startCluster(
  options: ServerOptions,
  onLog: (entry: LogEntry) => void = () => {},
): Promise<Cluster> {
  await using opened = new AsyncDisposableStack();
  const uri = TEST_POSTGRES_URI;
  if (uri === undefined) throw new Error('TEST_PROCESSES=1 needs TEST_POSTGRES_URI.');
  const database = opened.use(await postgresSchema(uri));
  const start = async (AGENT_SERVER_ROLE: string): Promise<TestServer> => {
    const folder = await makeServerFolder();
    const env = {
      AGENT_SERVER_DATA_DIR: folder,
      AGENT_SERVER_DATABASE_MAX_CONNECTIONS: CONNECTIONS,
      ...options.env,
      AGENT_SERVER_ROLE,
    };
    const server = opened.use(new TestServer({ ...options, env }, folder, shared(database)));
    server.onLog = onLog;
    await server.restart();
    return server;
  };
  const [one, two, ...workers] = await Promise.all(['api', 'api', 'worker', 'worker'].map(start));
  const apis = [one as TestServer, two as TestServer];
  const proxy = opened.use(await roundRobin(...apis.map(({ url }) => url)));
  const all = opened.move();
  return { url: proxy.url, apis, workers, proxy, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

/** The cluster owns it. */
function shared({ url }: TestDatabase): TestDatabase {
  return { url, [Symbol.asyncDispose]: async () => {} };
}

/** A server on PostgreSQL keeps its schemas of types in a folder within this one. */
async function makeServerFolder(): Promise<string> {
  const folder = await makeDataFolder();
  await mkdir(join(folder, '.agent-server'));
  await symlink(join(folder, 'schemas'), join(folder, '.agent-server/schemas'));
  return folder;
}

/** A cluster as a test sees a server; what is about one process is not there. */
export class ServerOfProcesses extends TestServer {
  readonly #cluster: Cluster;

  constructor(options: ServerOptions, cluster: Cluster) {
    super(options, '', { url: '', [Symbol.asyncDispose]: async () => {} });
    this.#cluster = cluster;
  }

  override get url(): string {
    return this.#cluster.url;
  }

  override get pid(): number {
    throw new NeedsOneProcess();
  }

  override get database(): string {
    throw new NeedsOneProcess();
  }

  /** All of them; resolves to the exit code of one. */
  override async kill(signal?: NodeJS.Signals): Promise<number | null> {
    const codes = await Promise.all(this.#processes.map((each) => each.kill(signal)));
    return codes[0] as number | null;
  }

  override async restart(): Promise<void> {
    await Promise.all(this.#processes.map((each) => each.restart()));
  }

  get #processes(): readonly TestServer[] {
    return [...this.#cluster.apis, ...this.#cluster.workers];
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await this.#cluster[Symbol.asyncDispose]();
  }
}

/** A test that looks into its server, which has no single process. */
export class NeedsOneProcess extends Error {
  constructor() {
    super('This test looks into the process of its server: say why in `one_process` where it starts it.');
  }
}

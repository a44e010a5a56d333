import { mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import type { App } from '../../src/app.ts';
import { findConfigFile, readConfigFile } from '../../src/config/files.ts';
import type { LogLine } from '../../src/core/logger.ts';
import { type AppParts, FIXTURES, type OpenedApp, type Request, type Response } from './app-parts.ts';
import { NeedsOneProcess, startCluster } from './cluster.ts';
import { PACKAGES } from './project.ts';
import type { LogEntry } from './server-process.ts';

/** What `openApp` gives, by several processes: requests reach them in turn, and the log is that of all. */
export async function openAppOfProcesses(parts: AppParts): Promise<OpenedApp> {
  await using opened = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'agent-server-project-'));
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  const log: LogLine[] = [];
  const config = await writeProject(folder, parts);
  const { environment: env = {} } = parts;
  const cluster = opened.use(await startCluster({ config, env }, (entry) => log.push(lineOf(entry))));
  const { url } = cluster;
  const all = opened.move();
  return {
    app: appAt(url),
    log,
    request: (request) => send(url, request),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

/** A folder with all that the project has, and with a configuration that says the parts. Returns its path. */
async function writeProject(folder: string, parts: AppParts): Promise<string> {
  const { folder: root = FIXTURES, graphs, http, crons, studio, runs, server, usage } = parts;
  const file = (await findConfigFile(root, undefined)) as string;
  const { graphs: all, ...config } = await readConfigFile(file);
  const wanted = graphs.map((graph_id) => [graph_id, absolute((all as Graphs)[graph_id], root)]);
  const document = {
    ...config,
    graphs: Object.fromEntries(wanted),
    http: { ...(config['http'] as object), ...http },
    crons: { ...(config['crons'] as object), ...crons },
    ...(studio && { studio }),
    runs: { ...(config['runs'] as object), ...runs },
    server: { ...(config['server'] as object), ...server },
    usage: { ...(config['usage'] as object), ...usage },
  };
  const names = (await readdir(root)).filter((name) => name !== basename(file));
  for (const name of names) await symlink(join(root, name), join(folder, name));
  if (!names.includes('node_modules')) await symlink(PACKAGES, join(folder, 'node_modules'));
  const written = join(folder, basename(file));
  await writeFile(written, JSON.stringify(document));
  return written;
}

type Graph = string | { readonly path: string };
type Graphs = Readonly<Record<string, Graph>>;

/** Graphs may be outside of the folder. */
function absolute(graph: Graph | undefined, root: string): Graph | undefined {
  if (typeof graph === 'string') return resolve(root, graph);
  return graph && { ...graph, path: resolve(root, graph.path) };
}

function lineOf({ level, message, ...fields }: LogEntry): LogLine {
  return { level: level as LogLine['level'], message, fields };
}

/** All that can be had of processes is where they listen. */
function appAt(url: string): App {
  const { port } = new URL(url);
  const address = { host: '127.0.0.1', port: Number(port), url };
  const parts = ['server', 'graphs', 'ready', 'stop', Symbol.asyncDispose];
  const app = { listen: async () => address };
  for (const part of parts) {
    Object.defineProperty(app, part, {
      get() {
        throw new NeedsOneProcess();
      },
    });
  }
  return app as unknown as App;
}

function send(url: string, { method, url: path, headers, payload = '' }: Request): Promise<Response> {
  return new Promise((resolve, reject) => {
    const length = payload === '' ? {} : { 'content-length': Buffer.byteLength(payload) };
    request(url + path, { method, headers: { ...length, ...headers } })
      .on('response', async (response) => {
        try {
          const { statusCode = 0, headers } = response;
          resolve({ status: statusCode, headers, text: await text(response) });
        } catch (error) {
          reject(error);
        }
      })
      .on('error', reject)
      .end(payload);
  });
}

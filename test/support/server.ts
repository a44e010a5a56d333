import { ServerOfProcesses, startCluster } from './cluster.ts';
import { makeDataFolder } from './data-folder.ts';
import { hasProcesses } from './processes.ts';
import { type ServerOptions, TestServer } from './server-process.ts';
import { testDatabase } from './test-database.ts';

export type { LogEntry, ServerOptions, TestServer } from './server-process.ts';

/**
 * A server on an empty database, in a process of its own; with `TEST_PROCESSES=1` in several, if the test needs no
 * single one.
 */
export async function startServer(options: ServerOptions = {}): Promise<TestServer> {
  if (hasProcesses(options)) return new ServerOfProcesses(options, await startCluster(options));
  const folder = await makeDataFolder();
  const server = new TestServer(options, folder, await testDatabase(folder, options.storage));
  try {
    await server.restart();
    return server;
  } catch (error) {
    await server[Symbol.asyncDispose]();
    throw error;
  }
}

import { rm } from 'node:fs/promises';
import { createApp } from '../../src/app.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { LogLine } from '../../src/core/logger.ts';
import { type AppParts, FIXTURES, type OpenedApp } from './app-parts.ts';
import { makeDataFolder } from './data-folder.ts';
import { ENCRYPTION_OF_TESTS } from './encryption.ts';
import { HOSTS_OF_TESTS } from './hosts.ts';
import { writeMigratedPostgres } from './migrated-postgres.ts';
import { writeMigratedSqlite } from './migrated-sqlite.ts';
import { recordingLogger } from './recording-logger.ts';
import { testDatabase } from './test-database.ts';

/** The sections of extensions that a test changes, over their defaults. */
function withSections(config: object, sections: Readonly<Record<string, object | undefined>>): object {
  const known = config as Readonly<Record<string, object>>;
  const changed = Object.entries(sections).filter(([, section]) => section !== undefined);
  return Object.fromEntries(changed.map(([name, section]) => [name, { ...known[name], ...section }]));
}

/** What `openApp` gives, in the test's own process. */
export async function openInProcess(parts: AppParts): Promise<OpenedApp> {
  const {
    graphs,
    folder: cwd = FIXTURES,
    environment = {},
    http,
    crons,
    studio,
    runs,
    server,
    usage,
  } = parts;
  const { gives_hints, clock } = parts;
  const folder = await makeDataFolder();
  const database = await testDatabase(folder);
  if (database.url.startsWith('sqlite:')) await writeMigratedSqlite(database.url.slice('sqlite:'.length));
  else await writeMigratedPostgres(database.url);
  const { config } = await loadConfig({
    cwd,
    environment: {
      DATABASE_URI: database.url,
      AGENT_SERVER_DATA_DIR: folder,
      PORT: '0',
      ...ENCRYPTION_OF_TESTS,
      ...HOSTS_OF_TESTS,
      ...environment,
    },
  });
  const log: LogLine[] = [];
  const app = await createApp(
    {
      ...config,
      http: { ...config.http, ...http },
      crons: { ...config.crons, ...crons },
      runs: { ...config.runs, ...runs },
      server: { ...config.server, ...server },
      ...withSections(config, { studio, usage }),
      graphs: config.graphs.filter(({ graph_id }) => graphs.includes(graph_id)),
    },
    {
      logger: recordingLogger('info', (line) => log.push(line)),
      ...(clock && { clock }),
      ...(gives_hints === undefined ? {} : { gives_hints }),
    },
  );
  await app.ready();
  return {
    app,
    log,
    async request(request) {
      const { statusCode, headers, body } = await app.server.inject(request);
      return { status: statusCode, headers, text: body };
    },
    async [Symbol.asyncDispose]() {
      await app.stop(0);
      await database[Symbol.asyncDispose]();
      // A process that reads types may still be writing what it found.
      await rm(folder, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

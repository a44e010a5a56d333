import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { postgresSchema, TEST_POSTGRES_URI } from './postgres-schema.ts';
import { POSTGRES_BINARIES, startPostgres } from './postgres-server.ts';

/** Whether there is a PostgreSQL that other processes can use too. */
export const HAS_POSTGRES = TEST_POSTGRES_URI !== undefined || POSTGRES_BINARIES !== undefined;

/** Databases that have an address, also for other processes; gone at the end. */
export interface DatabasesByUrl extends AsyncDisposable {
  readonly folder: string;
  /** A file that does not exist yet. */
  sqlite(name?: string): string;
  /** An empty schema on a real server. */
  postgres(): Promise<string>;
}

export async function databasesByUrl(): Promise<DatabasesByUrl> {
  const stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'agent-server-databases-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  let server: Promise<string> | undefined;
  const start = async () => stack.use(await startPostgres({ fsync: 'off' })).url;
  return {
    folder,
    sqlite: (name = randomUUID()) => `sqlite:${join(folder, `${name}.db`)}`,
    async postgres() {
      server ??= TEST_POSTGRES_URI ? Promise.resolve(TEST_POSTGRES_URI) : start();
      return stack.use(await postgresSchema(await server)).url;
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

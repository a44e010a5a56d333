import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateKey } from '../../src/auth/api-keys.ts';
import type { Scope } from '../../src/auth/scopes.ts';
import { systemClock, timestamp } from '../../src/core/clock.ts';
import { Unavailable } from '../../src/core/errors.ts';
import { systemIds } from '../../src/core/ids.ts';
import { openApiKeys } from '../../src/storage/storage.ts';

const MAX_TRIES = 5;

interface Made {
  readonly scope?: Scope;
  readonly expires_at?: string;
}

/** A SQLite file of its own, whose keys can be changed beside the server that has it. */
export async function keyFile() {
  const folder = await mkdtemp(join(tmpdir(), 'agent-server-keys-'));
  const url = `sqlite:${join(folder, 'server.db')}`;
  /**
   * The connection waits for the lock of the file without a turn of the event loop. A server of this process that holds it
   * over several turns can only end its transaction between two tries.
   */
  async function write(change: (storage: Awaited<ReturnType<typeof openApiKeys>>) => Promise<unknown>) {
    await using storage = await openApiKeys({ url });
    for (let tries = 1; ; tries += 1) {
      try {
        await change(storage);
        return;
      } catch (error) {
        if (!(error instanceof Unavailable) || tries === MAX_TRIES) throw error;
      }
    }
  }
  return {
    environment: { DATABASE_URI: url, LANGGRAPH_AUTH: '{"required":true}' },

    /** The key and its id. */
    async make({ scope = 'admin', expires_at }: Made = {}) {
      const facts = {
        name: 'test',
        scope,
        created_at: timestamp(systemClock.now()),
        expires_at: expires_at ?? null,
      };
      const { key, record: kept } = generateKey(systemIds(systemClock), facts);
      await write(({ apiKeys }) => apiKeys.insert(kept));
      return { key, key_id: kept.key_id };
    },

    async revoke(key_id: string): Promise<void> {
      await write(({ apiKeys }) => apiKeys.revoke(key_id, timestamp(systemClock.now())));
    },

    async [Symbol.asyncDispose]() {
      await rm(folder, { recursive: true, force: true });
    },
  };
}

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateKey } from '../../src/auth/api-keys.ts';
import type { Scope } from '../../src/auth/scopes.ts';
import { systemClock, timestamp } from '../../src/core/clock.ts';
import { systemIds } from '../../src/core/ids.ts';
import { openApiKeys } from '../../src/storage/storage.ts';

interface Made {
  readonly scope?: Scope;
  readonly expires_at?: string;
}

/** A SQLite file of its own, whose keys can be changed beside the server that has it. */
export async function keyFile() {
  const folder = await mkdtemp(join(tmpdir(), 'agent-server-keys-'));
  const url = `sqlite:${join(folder, 'server.db')}`;
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
      await using storage = await openApiKeys({ url });
      await storage.apiKeys.insert(kept);
      return { key, key_id: kept.key_id };
    },

    async revoke(key_id: string): Promise<void> {
      await using storage = await openApiKeys({ url });
      await storage.apiKeys.revoke(key_id, timestamp(systemClock.now()));
    },

    async [Symbol.asyncDispose]() {
      await rm(folder, { recursive: true, force: true });
    },
  };
}

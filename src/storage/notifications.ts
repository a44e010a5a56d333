import { text } from '../db/columns.ts';
import type { Db } from '../db/db.ts';
import { sql } from '../db/sql.ts';

/** Notifications of PostgreSQL; `undefined` on SQLite, which has one process. */
export interface Notifications {
  /** The channel of this database and schema: letters, digits and `_`. */
  channelName(): Promise<string>;
  /** Sends over a connection of the pool, which cannot listen itself. */
  notify(channel: string, payload: string): Promise<void>;
}

const NAME = text('name');

export function notifications(db: Db): Notifications | undefined {
  if (db.dialect === 'sqlite') return undefined;
  return {
    async channelName() {
      const row = await db.get(sql`select 'agent_server_' || md5(current_schema()) as ${NAME}`);
      if (!row) throw new Error('PostgreSQL returned no schema name.');
      return row.name;
    },
    async notify(channel, payload) {
      await db.get(
        sql`select set_config('synchronous_commit', 'off', true), pg_notify(${channel}, ${payload})`,
      );
    },
  };
}

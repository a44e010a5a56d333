import { columns } from '../../db/columns.ts';
import type { Reader } from '../../db/db.ts';
import { isOneOf } from '../../db/json.ts';
import { and, sql } from '../../db/sql.ts';
import {
  threadVisible,
  VISIBLE_ASSISTANTS,
  VISIBLE_CRONS,
  VISIBLE_DELIVERIES,
  VISIBLE_THREADS,
  type Visibility,
  visible,
} from './visibility.ts';

/** Kinds of rows that users own. */
export type OwnedKind = 'run' | 'thread' | 'assistant' | 'cron' | 'delivery';

/** Which of these rows exist and are visible. */
export async function visibleIds(
  reader: Reader,
  kind: OwnedKind,
  ids: readonly string[],
  visibility: Visibility,
): Promise<string[]> {
  const rows = await reader.all(statement(kind, ids, visibility));
  return rows.map(({ id }) => id);
}

function statement(kind: OwnedKind, ids: readonly string[], visibility: Visibility) {
  switch (kind) {
    case 'run':
      return sql`select ${columns('runs', 'run_id as id')} from runs
        where ${and([isOneOf('run_id', ids), threadVisible('runs.thread_id', visibility)])}`;
    case 'thread':
      return sql`select ${columns('threads', 'thread_id as id')} from threads
        where ${and([isOneOf('thread_id', ids), visible(VISIBLE_THREADS, visibility)])}`;
    case 'assistant':
      return sql`select ${columns('assistants', 'assistant_id as id')} from assistants
        where ${and([isOneOf('assistant_id', ids), visible(VISIBLE_ASSISTANTS, visibility)])}`;
    case 'cron':
      return sql`select ${columns('crons', 'cron_id as id')} from crons
        where ${and([isOneOf('cron_id', ids), visible(VISIBLE_CRONS, visibility)])}`;
    case 'delivery':
      return sql`select ${columns('webhook_outbox', 'delivery_id as id')} from webhook_outbox
        where ${and([isOneOf('delivery_id', ids), visible(VISIBLE_DELIVERIES, visibility)])}`;
  }
}

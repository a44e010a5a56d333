import { tryOrUndefined } from '../../core/failure.ts';
import { isObject } from '../../core/json.ts';
import { columns } from '../../db/columns.ts';
import type { Reader } from '../../db/db.ts';
import { sql } from '../../db/sql.ts';
import { WRITE_VALUE_COLUMN } from './rows.ts';

/**
 * Ids of the interrupts whose answers an attempt of the run has taken: their tasks have stored them, and will use them
 * when they execute again.
 */
export async function findTakenAnswers(
  reader: Reader,
  { thread_id, run_id }: { readonly thread_id: string; readonly run_id: string },
): Promise<string[]> {
  const rows = await reader.all(sql`
    select ${columns('checkpoint_writes', 'q.value')} from checkpoint_writes a
    join checkpoint_writes q on q.thread_id = a.thread_id and q.ns = a.ns and q.checkpoint_id = a.checkpoint_id
      and q.task_id = a.task_id and q.channel = '__interrupt__' and q.superseded_by in ('', ${run_id})
      and q.run_id is distinct from ${run_id}
    where a.thread_id = ${thread_id} and a.run_id = ${run_id} and a.channel = '__resume__'
      and a.superseded_by = ''`);
  return rows.flatMap(({ value }) => interruptIds(reader, value));
}

/** A value that cannot be read names none. */
function interruptIds({ cipher }: Reader, value: Uint8Array): string[] {
  const text = tryOrUndefined(() => Buffer.from(cipher.decryptBytes(WRITE_VALUE_COLUMN, value)).toString());
  const interrupts: unknown = text && tryOrUndefined(() => JSON.parse(text));
  return [interrupts]
    .flat()
    .flatMap((each) => (isObject(each) && typeof each['id'] === 'string' ? [each['id']] : []));
}

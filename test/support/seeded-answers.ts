import type { Db } from '../../src/db/db.ts';
import { raw, sql } from '../../src/db/sql.ts';

/** One answer for each run of `seedRuns`, at the time of the run, written straight into the table. */
export async function seedAnswers(db: Db): Promise<void> {
  const asked = db.cipher.encryptJson('interrupt_answers.value', '{"question":"Send it?"}');
  const answer = db.cipher.encryptJson('interrupt_answers.answer', '{"decisions":[{"type":"approve"}]}');
  await db.run(sql`
    insert into interrupt_answers (answer_id, run_id, thread_id, assistant_id, interrupt_id, task_id, since, created_at,
      user_id, key_id, value, value_bytes, answer, answer_bytes)
    select cast(run_id as text), run_id, thread_id, assistant_id, cast(run_id as text), 't', created_at, created_at,
      'ann', null, ${asked}, 23, ${answer}, 34 from runs`);
  if (db.dialect === 'postgres') await db.run(raw('analyze'));
}

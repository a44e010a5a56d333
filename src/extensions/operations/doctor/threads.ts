import { isServerInterrupt } from '../../../core/interrupt-ids.ts';
import { columns } from '../../../db/columns.ts';
import { DecryptionError } from '../../../db/encryption/cipher.ts';
import { raw, sql } from '../../../db/sql.ts';
import { isIdle, withThread } from '../../../storage/runs/thread-lock.ts';
import { IN_FLIGHT, THREAD_COLUMNS } from '../../../storage/threads/row.ts';
import { type Check, type DoctorContext, type Finding, some } from './finding.ts';

export const threadChecks: readonly Check[] = [unknownStatus, nothingToResume];

/** `busy` is derived from the queue and never stored. */
async function unknownStatus({ db }: DoctorContext): Promise<Finding[]> {
  const condition = raw(`status not in ('idle', 'interrupted', 'error')`);
  const rows = await db.all(sql`select ${columns('threads', 'thread_id')} from threads where ${condition}`);
  if (rows.length === 0) return [];
  return [
    {
      check: 'threads',
      level: 'problem',
      message: `Thread ${some(rows.map(({ thread_id }) => thread_id))} has the status of a run, but no run: --fix sets it to idle, or to error if the thread has one.`,
      fix: () =>
        db.run(sql`update threads set status = case when error is null then 'idle' else 'error' end
          where ${condition}`),
    },
  ];
}

const INTERRUPTED = columns('threads', 'thread_id, interrupts');

/**
 * Interrupted, but at no checkpoint, or with a question that its newest checkpoint does not ask. A thread without
 * questions, or with that of the server, may stop before or after a node, which only its graph knows.
 */
async function nothingToResume(context: DoctorContext): Promise<Finding[]> {
  const { db } = context;
  const newest = raw(`(select max(checkpoint_id) from checkpoints c
    where c.thread_id = cast(threads.thread_id as text) and c.ns = '')`);
  const rows = await db.all(sql`
    select ${INTERRUPTED} from threads where status = 'interrupted' and not ${IN_FLIGHT} and not exists (
      select 1 from checkpoint_writes w where w.thread_id = cast(threads.thread_id as text) and w.ns = ''
        and w.checkpoint_id = ${newest} and w.channel = '__interrupt__')
      and (interrupts is not null or ${newest} is null)`);
  const stuck: string[] = [];
  for (const { thread_id, interrupts } of rows)
    if (hasQuestions(context, interrupts) || !(await hasCheckpoint(context, thread_id)))
      stuck.push(thread_id);
  if (stuck.length === 0) return [];
  return [
    {
      check: 'threads',
      level: 'problem',
      message: `Thread ${some(stuck)} counts as interrupted, but no interrupt is pending: --fix sets it to idle.`,
      fix: async () => {
        for (const thread_id of stuck) await makeIdle(context, thread_id);
      },
    },
  ];
}

function hasQuestions({ db }: DoctorContext, interrupts: string | null): boolean {
  try {
    const text = interrupts === null ? '{}' : db.cipher.decryptJson(THREAD_COLUMNS.interrupts, interrupts);
    const questions = Object.values(JSON.parse(text) as Record<string, { id?: unknown }[]>).flat();
    return questions.some(({ id }) => !isServerInterrupt(id));
  } catch (error) {
    // Without the key it may ask anything.
    if (error instanceof DecryptionError) return false;
    throw error;
  }
}

async function hasCheckpoint({ db }: DoctorContext, thread_id: string): Promise<boolean> {
  const row = await db.get(sql`select 1 from checkpoints where thread_id = ${thread_id} and ns = '' limit 1`);
  return row !== undefined;
}

function makeIdle({ db }: DoctorContext, thread_id: string): Promise<unknown> {
  return withThread(db, 'sync', thread_id, async (tx, thread) => {
    if (!thread.exists || !(await isIdle(tx, thread))) return;
    await tx.run(sql`
      update threads set status = 'idle', interrupts = ${tx.cipher.encryptJson(THREAD_COLUMNS.interrupts, '{}')}
      where thread_id = ${thread_id} and status = 'interrupted'`);
  });
}

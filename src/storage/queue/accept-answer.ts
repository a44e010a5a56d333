import { isEmptyMap, isServerInterrupt, namesInterrupts } from '../../core/interrupt-ids.ts';
import { isObject } from '../../core/json.ts';
import { columns } from '../../db/columns.ts';
import type { Transaction } from '../../db/db.ts';
import { decryptJsonColumns } from '../../db/encryption/cipher.ts';
import { sql } from '../../db/sql.ts';
import type { Interrupt } from '../../schemas/threads.ts';
import { newestCheckpointId } from '../checkpoints/find.ts';
import type { AddedRun, Riders } from '../riders.ts';
import { insertAnswer } from '../threads/interrupt-answers.ts';
import { IN_FLIGHT, THREAD_COLUMNS } from '../threads/row.ts';

/** A request that may answer what its thread asks. */
export interface NewAnswer {
  /** `command.resume`; undefined if the request only continues the thread, which answers what the server asks. */
  readonly resume: unknown;
  /** Where it resumes; undefined: from the newest checkpoint of the root graph. */
  readonly checkpoint?: { readonly id?: string | undefined; readonly ns?: string | undefined } | undefined;
  /** It fails if it names an interrupt that is not pending. */
  readonly is_strict: boolean;
  /** Who answers; null without a user. */
  readonly user_id: string | null;
}

interface Asked {
  readonly interrupt: Interrupt & { readonly id: string };
  readonly task_id: string;
}

interface Answer extends Asked {
  readonly answer: unknown;
}

const WAITING = columns('threads', 'interrupts, state_updated_at');

/**
 * Part of the transaction that adds a run, under the lock of its thread and before the run is in the queue: what its request
 * answers. Nothing if another run is in the queue, because that run will answer instead.
 */
export async function acceptAnswer(
  tx: Transaction,
  added: AddedRun,
  answer: NewAnswer,
  riders: Riders,
): Promise<void> {
  const { run, key_id } = added;
  const { run_id, thread_id, assistant_id } = run;
  const waiting = await tx.get(sql`select ${WAITING} from threads
    where thread_id = ${thread_id} and not ${IN_FLIGHT}`);
  if (!waiting) return;
  const { interrupts } = decryptJsonColumns(tx.cipher, waiting, { interrupts: THREAD_COLUMNS.interrupts });
  const asked = Object.entries((interrupts ?? {}) as Record<string, Interrupt[]>).flatMap(([task_id, each]) =>
    each.map((interrupt) => ({ task_id, interrupt })),
  );
  const answers = answersOf(asked.filter(hasId), answer, await isNewest(tx, thread_id, answer));
  for (const { task_id, interrupt, answer: given } of answers) {
    insertAnswer(tx, {
      interrupt_id: interrupt.id,
      thread_id,
      task_id,
      run_id,
      assistant_id,
      since: waiting.state_updated_at,
      created_at: run.updated_at,
      user_id: answer.user_id,
      key_id: key_id ?? null,
      value: interrupt.value,
      answer: given,
    });
  }
  const resolved = answers.map(({ interrupt }) => interrupt);
  if (resolved.length > 0) await riders.resumed(tx, added, resolved);
}

function hasId(asked: { task_id: string; interrupt: Interrupt }): asked is Asked {
  return typeof asked.interrupt.id === 'string';
}

/** Whether the run resumes where the thread waits. */
async function isNewest(tx: Transaction, thread_id: string, { checkpoint }: NewAnswer): Promise<boolean> {
  if (checkpoint?.ns) return false;
  return checkpoint?.id === undefined || checkpoint.id === (await newestCheckpointId(tx, thread_id));
}

/** As the graph takes it: by id, or the only one. An answer to the server is not for the graph, and needs no id. */
export function answersOf(
  asked: readonly Asked[],
  { resume, is_strict }: NewAnswer,
  isNewest: boolean,
): Answer[] {
  const by_id = isObject(resume) ? resume : {};
  if (asked.every(({ interrupt }) => isServerInterrupt(interrupt.id))) {
    const answerTo = ({ id }: Asked['interrupt']) => (id in by_id ? by_id[id] : (resume ?? null));
    return isNewest ? asked.map((each) => ({ ...each, answer: answerTo(each.interrupt) })) : [];
  }
  if (namesInterrupts(resume)) {
    const named = asked.filter(({ interrupt }) => interrupt.id in resume);
    if (is_strict && named.length < Object.keys(resume).length) return [];
    return named.map((each) => ({ ...each, answer: resume[each.interrupt.id] }));
  }
  if (is_strict && isEmptyMap(resume)) return [];
  const [only, ...others] = asked;
  if (!only || others.length > 0 || !isNewest || resume === undefined || resume === null) return [];
  return [{ ...only, answer: resume }];
}

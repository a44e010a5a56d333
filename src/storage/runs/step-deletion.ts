import { columns, number } from '../../db/columns.ts';
import type { Transaction } from '../../db/db.ts';
import { isOneOf, isOneOfNumbers } from '../../db/json.ts';
import { and, type RowOf, raw, type Sql, sql } from '../../db/sql.ts';
import { isLarge, slicesOf, sumOf } from '../search/byte-slices.ts';
import { difference, type NumberRange, numbersIn, union } from './number-ranges.ts';
import { rangesOfTexts } from './step-texts.ts';

/** Runs whose texts are looked for at once, and steps that are read in one go. */
const RUNS = 100;
const STEPS = 1000;
const LARGE = [raw('run_steps.contents'), raw('run_steps.texts')];

/**
 * Part of the deletion of runs, before they are deleted, with their thread locked: deletes their steps, if these are large,
 * and the texts that no other run of the thread has.
 */
export async function deleteStepsOfRuns(
  tx: Transaction,
  thread_id: string,
  run_ids: readonly string[],
): Promise<void> {
  await deleteOwnTexts(tx, thread_id, run_ids);
  await inSlices(
    tx,
    isOneOf('run_steps.run_id', run_ids),
    (slice) => sql`delete from run_steps where ${slice}`,
  );
}

/** Part of the deletion of a thread, whose history has the texts: deletes the steps of its runs, if these are large. */
export async function deleteStepsOfThread(tx: Transaction, thread_id: string): Promise<void> {
  await inSlices(tx, ofThread(thread_id), (slice) => sql`delete from run_steps where ${slice}`);
}

/** Deletes what the steps of a thread were given and returned, and nothing else of them. */
export async function deleteContentsOfThread(tx: Transaction, thread_id: string): Promise<void> {
  const set = (which: Sql) =>
    sql`update run_steps set contents = null, texts = null where ${which} and (contents is not null or texts is not null)`;
  if (!(await inSlices(tx, ofThread(thread_id), set))) await tx.run(set(ofThread(thread_id)));
  await tx.run(sql`delete from step_texts where thread_id = ${thread_id}`);
}

const ofThread = (thread_id: string) =>
  sql`run_steps.run_id in (select run_id from runs where thread_id = ${thread_id})`;

/** SQLite frees the pages of a statement in one go. Does nothing, and returns false, where they are few. */
async function inSlices(tx: Transaction, which: Sql, change: (slice: Sql) => Sql): Promise<boolean> {
  const rows = { from: raw('run_steps'), where: [which], id: 'run_steps.run_id', large: LARGE };
  if (!(await isLarge(tx, rows))) return false;
  const sized = await tx.all(sql`
    select ${columns('run_steps', 'run_id, attempt, number')}, ${sumOf(LARGE)} as ${number('bytes')} from run_steps
    where ${which} order by run_id, attempt, number`);
  for (const slice of slicesOf(sized)) {
    const [first, last] = [slice[0], slice.at(-1)];
    if (!first || !last) continue;
    const from = sql`(run_id, attempt, number) >= (${first.run_id}, ${first.attempt}, ${first.number})`;
    const to = sql`(run_id, attempt, number) <= (${last.run_id}, ${last.attempt}, ${last.number})`;
    await tx.run(change(and([which, from, to])));
  }
  return true;
}

/** Newest runs first: they have most of the texts of the earlier ones, and the search ends once all are found. */
async function deleteOwnTexts(tx: Transaction, thread_id: string, run_ids: readonly string[]): Promise<void> {
  let left = await textsOf(tx, run_ids);
  if (left.length === 0) return;
  const others = await tx.all(sql`
    select ${columns('runs', 'run_id')} from runs
    where thread_id = ${thread_id} and not ${isOneOf('run_id', run_ids)} order by created_at desc`);
  for (let start = 0; start < others.length && left.length > 0; start += RUNS) {
    const ids = others.slice(start, start + RUNS).map(({ run_id }) => run_id);
    left = difference(left, await textsOf(tx, ids));
  }
  if (left.length > 0)
    await tx.run(sql`delete from step_texts
      where thread_id = ${thread_id} and ${isOneOfNumbers(raw('number'), numbersIn(left))}`);
}

const TEXTS = columns('run_steps', 'run_id, attempt, number, texts');

/** As ranges: each call of a long conversation has all of its messages, so that their numbers are the product of both. */
async function textsOf(tx: Transaction, run_ids: readonly string[]): Promise<NumberRange[]> {
  let found: NumberRange[] = [];
  for (let last: RowOf<typeof TEXTS> | undefined, isFull = true; isFull; ) {
    const behind = last && sql`(run_id, attempt, number) > (${last.run_id}, ${last.attempt}, ${last.number})`;
    const rows = await tx.all(sql`select ${TEXTS} from run_steps
      where ${and([isOneOf('run_id', run_ids), raw('texts is not null'), behind])}
      order by run_id, attempt, number limit ${STEPS}`);
    found = union([...found, ...rows.flatMap(({ texts }) => rangesOfTexts(texts ?? '{}'))]);
    last = rows.at(-1);
    isFull = rows.length === STEPS;
  }
  return found;
}

import { columns } from '../../db/columns.ts';
import type { Db } from '../../db/db.ts';
import { isOneOf } from '../../db/json.ts';
import { and, type RowOf, sql } from '../../db/sql.ts';
import { isCutNote } from '../../schemas/step-contents.ts';
import type { SharedName } from './masked-contents.ts';
import { numbersOf, readTexts } from './step-texts.ts';

export const STEP_CONTENTS_COLUMN = 'run_steps.contents';
/** Runs before this one in which the previous call is looked for. */
const EARLIER_RUNS = 20;

/** What was stored of a step's contents: JSON texts. */
export interface StoredContents {
  readonly shared: Partial<Record<SharedName, readonly string[]>>;
  readonly own: string | undefined;
  /** The call of a model before this one, in the same node of the thread; undefined without one. */
  readonly previous: PreviousCall | undefined;
}

/** What a model call shares with the one before it. */
export interface PreviousCall {
  readonly run_id: string;
  readonly attempt: number;
  readonly number: number;
  /** How many messages it had. */
  readonly messages: number;
  /** How many of them, from the first one, this call has too; null if that is not known, because one of both was cut. */
  readonly repeated: number | null;
  readonly has_same_tools: boolean;
}

interface StepPlace {
  readonly attempt: number;
  readonly number: number;
  readonly thread_id: string;
  readonly run_id: string;
  readonly node: string | null;
}

/** `undefined` if nothing was kept of the step. */
export async function readContents(db: Db, step: StepPlace): Promise<StoredContents | undefined> {
  const { thread_id, run_id, attempt, number } = step;
  const row = await db.get(sql`select ${columns('run_steps', 'texts, contents')} from run_steps
    where run_id = ${run_id} and attempt = ${attempt} and number = ${number}`);
  if (!row || (row.texts === null && row.contents === null)) return undefined;
  const numbers = numbersOf(row.texts);
  const texts = await readTexts(db, thread_id, Object.values(numbers).flat());
  const { own: long, ...shared }: StoredContents['shared'] = Object.fromEntries(
    Object.entries(numbers).map(([name, all]) => [name, all.flatMap((each) => texts.get(each) ?? [])]),
  );
  const own = row.contents === null ? long?.[0] : db.cipher.decryptText(STEP_CONTENTS_COLUMN, row.contents);
  return { shared, own, previous: numbers.messages && (await previousCall(db, step, numbers)) };
}

/** The number of a text stands for its content: equal numbers are equal messages. */
async function previousCall(
  db: Db,
  step: StepPlace,
  { messages = [], tools }: ReturnType<typeof numbersOf>,
): Promise<PreviousCall | undefined> {
  const found = (await previousInRun(db, step)) ?? (await previousInThread(db, step));
  if (!found) return undefined;
  const { texts, ...place } = found;
  const before = numbersOf(texts);
  if (!before.messages) return undefined;
  return {
    ...place,
    messages: before.messages.length,
    repeated: await countRepeated(db, step.thread_id, messages, before.messages),
    has_same_tools: tools?.[0] === before.tools?.[0],
  };
}

/** `null` where a note stands for messages in the middle of one of them: what follows has other places. */
async function countRepeated(
  db: Db,
  thread_id: string,
  messages: readonly number[],
  before: readonly number[],
): Promise<number | null> {
  const differs = messages.findIndex((each, n) => each !== before[n]);
  if (differs < 0) return messages.length;
  const differing = [messages[differs], before[differs]].filter((each) => each !== undefined);
  const texts = await readTexts(db, thread_id, differing);
  return [...texts.values()].some(isCutNote) ? null : differs;
}

const CALL = columns('run_steps', 's.run_id, s.attempt, s.number, s.texts');
type CallRow = RowOf<typeof CALL>;

const isCall = ({ node }: StepPlace) =>
  and([
    sql`s.kind = 'model' and s.texts is not null`,
    node === null ? sql`s.node is null` : sql`s.node = ${node}`,
  ]);

function previousInRun(db: Db, step: StepPlace): Promise<CallRow | undefined> {
  return db.get(sql`select ${CALL} from run_steps s
    where s.run_id = ${step.run_id} and (s.attempt, s.number) < (${step.attempt}, ${step.number}) and ${isCall(step)}
    order by s.attempt desc, s.number desc limit 1`);
}

async function previousInThread(db: Db, step: StepPlace): Promise<CallRow | undefined> {
  const earlier = await db.all(sql`select ${columns('runs', 'run_id')} from runs
    where thread_id = ${step.thread_id} and created_at < (select created_at from runs where run_id = ${step.run_id})
    order by created_at desc limit ${EARLIER_RUNS}`);
  const ids = earlier.map(({ run_id }) => run_id);
  if (ids.length === 0) return undefined;
  return db.get(sql`select ${CALL} from run_steps s
    join runs r on r.run_id = s.run_id where ${isOneOf('s.run_id', ids)} and ${isCall(step)}
    order by r.created_at desc, s.attempt desc, s.number desc limit 1`);
}

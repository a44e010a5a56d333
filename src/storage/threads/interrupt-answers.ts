import { type JsonObject, toJson } from '../../core/json.ts';
import { bind } from '../../db/bind.ts';
import { columns } from '../../db/columns.ts';
import type { Db, Reader, Transaction } from '../../db/db.ts';
import { decryptJsonColumns } from '../../db/encryption/cipher.ts';
import { combineFilters, matchesEverything } from '../../db/metadata-filter.ts';
import { and, list, raw, type Sql, sql } from '../../db/sql.ts';
import { type InterruptAnswer, MAX_VALUE_BYTES } from '../../schemas/interrupts.ts';
import { threadVisible, type Visibility } from '../access/visibility.ts';
import { threadFilter } from '../runs/run-list.ts';
import { mostSelectivePath } from '../search/access-path.ts';
import { EXAMINED_ROWS, type Keyset, type KeysetList, keysetPage } from '../search/keyset-page.ts';
import { timeRange } from '../search/time-range.ts';

export interface AnswerConditions {
  /** Containment filter. */
  readonly thread_metadata?: JsonObject | undefined;
  readonly thread_id?: string | undefined;
  readonly interrupt_id?: string | undefined;
  /** The assistant of the run with the answer. */
  readonly assistant_id?: string | undefined;
  readonly user_id?: string | undefined;
  /** Times of the answer, in UTC; inclusive and exclusive. */
  readonly created_from?: string | undefined;
  readonly created_to?: string | undefined;
}

export interface AnswerQuery extends AnswerConditions {
  readonly order: 'asc' | 'desc';
  readonly after?: Keyset | undefined;
  readonly limit: number;
}

export interface AnswerPage {
  readonly found: InterruptAnswer[];
  /** The next page is after this; `undefined` at the end. A page that is not full may have one. */
  readonly next: Keyset | undefined;
}

/** Cipher columns. */
const CONTENT = { value: 'interrupt_answers.value', answer: 'interrupt_answers.answer' };

/** An answer to be stored, with the values that are stored only if they are not too large. */
export type NewInterruptAnswer = Omit<InterruptAnswer, 'value_bytes' | 'answer_bytes'>;

/** Part of a transaction that has inserted the run. Of several tasks that ask with one id, the first is stored. */
export function insertAnswer(tx: Transaction, { value, answer, ...row }: NewInterruptAnswer): void {
  const [asked, given] = [toJson(value ?? null), toJson(answer ?? null)];
  const stored = (column: string, json: string) =>
    isStored(Buffer.byteLength(json)) ? tx.cipher.encryptJson(column, json) : null;
  tx.defer(sql`
    insert into interrupt_answers (answer_id, run_id, thread_id, assistant_id, interrupt_id, task_id, since, created_at,
      user_id, key_id, value, value_bytes, answer, answer_bytes)
    values (${`${row.run_id}.${row.interrupt_id}`}, ${row.run_id}, ${row.thread_id}, ${row.assistant_id}, ${row.interrupt_id},
      ${row.task_id}, ${row.since}, ${row.created_at}, ${row.user_id}, ${row.key_id},
      ${stored(CONTENT.value, asked)}, ${Buffer.byteLength(asked)}, ${stored(CONTENT.answer, given)}, ${Buffer.byteLength(given)})
    on conflict (answer_id) do nothing`);
}

const isStored = (bytes: number): boolean => bytes <= MAX_VALUE_BYTES;

export type InterruptAnswerRepository = ReturnType<typeof interruptAnswerRepository>;

/** Answers to interrupts, over all threads. Visibility is that of their threads. */
export function interruptAnswerRepository(db: Db) {
  return bind(db, { search: searchAnswers });
}

/** By the time of the answer. */
async function searchAnswers(
  reader: Reader,
  { order, after, limit, ...conditions }: AnswerQuery,
  visibility?: Visibility,
): Promise<AnswerPage> {
  const answers = await answerList(reader, conditions, order, visibility);
  const { found, next } = await keysetPage(reader, answers, { after, limit });
  const ids = found.map(({ id }) => id);
  return { found: await loadAnswers(reader, ids, visibility), next };
}

async function answerList(
  reader: Reader,
  conditions: AnswerConditions,
  order: 'asc' | 'desc',
  visibility: Visibility | undefined,
): Promise<KeysetList> {
  const { thread_metadata, created_from, created_to, ...equal } = conditions;
  const metadata = combineFilters(thread_metadata && { contains: thread_metadata }, visibility?.metadata);
  const threads = matchesEverything(metadata) ? visibility : { metadata, ids: visibility?.ids };
  const isVisible = threadVisible('interrupt_answers.thread_id', threads);
  const own = (['thread_id', 'interrupt_id', 'assistant_id', 'user_id'] as const).flatMap((name) =>
    equal[name] === undefined ? [] : [sql`interrupt_answers.${raw(name)} = ${equal[name]}`],
  );
  return {
    at: 'interrupt_answers.created_at',
    id: 'interrupt_answers.answer_id',
    order,
    scanned: {
      sqlite: raw('interrupt_answers indexed by interrupt_answers_created'),
      postgres: raw('interrupt_answers'),
    },
    indexed: timeRange(raw('interrupt_answers.created_at'), created_from, created_to),
    where: [...own, ...(isVisible ? [isVisible] : [])],
    large: threads?.metadata ? [METADATA_OF_THREAD] : [],
    few: await fewAnswers(reader, conditions, threads),
    examined_rows: EXAMINED_ROWS,
  };
}

const METADATA_OF_THREAD = raw(
  '(select metadata from threads where threads.thread_id = interrupt_answers.thread_id)',
);

/** The answers of up to this many threads are read and sorted. */
const SORT_UP_TO = 2000;

/** SQLite: through the index on the threads of answers. */
async function fewAnswers(
  reader: Reader,
  { thread_id }: AnswerConditions,
  threads: Visibility | undefined,
): Promise<Sql | undefined> {
  if (reader.dialect === 'postgres') return undefined;
  if (thread_id !== undefined) return raw('interrupt_answers indexed by interrupt_answers_thread');
  if (!threads) return undefined;
  const path = await mostSelectivePath(reader, threadFilter(threads), SORT_UP_TO);
  if (!path || path.size >= SORT_UP_TO) return undefined;
  return sql`(${path.rows}) source cross join threads on threads.row_id = source.row_id
    cross join interrupt_answers on interrupt_answers.thread_id = threads.thread_id`;
}

const ANSWER = columns(
  'interrupt_answers',
  `answer_id, interrupt_id, thread_id, task_id, run_id, assistant_id, since, created_at, user_id, key_id, value,
  value_bytes, answer, answer_bytes`,
);

/** In the order of `ids`, without those that were deleted or became invisible in the meantime. */
async function loadAnswers(
  reader: Reader,
  ids: readonly string[],
  visibility: Visibility | undefined,
): Promise<InterruptAnswer[]> {
  const wanted = and([
    sql`answer_id in ${list(ids)}`,
    threadVisible('interrupt_answers.thread_id', visibility),
  ]);
  const rows = await reader.all(sql`select ${ANSWER} from interrupt_answers where ${wanted}`);
  const byId = new Map(
    rows.map(({ answer_id, ...row }) => {
      const { value, answer, ...rest } = decryptJsonColumns(reader.cipher, row, CONTENT);
      const stored = {
        ...rest,
        ...(isStored(row.value_bytes) && { value }),
        ...(isStored(row.answer_bytes) && { answer }),
      };
      return [answer_id, stored];
    }),
  );
  return ids.flatMap((id) => byId.get(id) ?? []);
}

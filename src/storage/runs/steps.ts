import { timestamp } from '../../core/clock.ts';
import { toJson } from '../../core/json.ts';
import { columns } from '../../db/columns.ts';
import type { Db, Transaction } from '../../db/db.ts';
import { type Cipher, decryptJsonColumns } from '../../db/encryption/cipher.ts';
import { insertRows, insertRowsReturning } from '../../db/rows.ts';
import { type Sql, sql } from '../../db/sql.ts';
import type { AttemptStatus, PricedStep, RecordedStep, RunAttempt, Step } from '../../schemas/steps.ts';
import type { ActiveAttempts } from './active-attempts.ts';
import type { Lease } from './lease.ts';
import type { MaskedContents } from './masked-contents.ts';
import { toRanges } from './number-ranges.ts';
import { readContents, STEP_CONTENTS_COLUMN, type StoredContents } from './read-contents.ts';
import { putTexts } from './step-texts.ts';

/** Cipher column: the error of a step. */
const STEP_ERROR_COLUMN = 'run_steps.error';

/** A step as stored. */
export type StoredStep = Omit<Step, 'span_id'>;

/** An attempt as stored: `running` until its end is. */
export type StoredAttempt = Omit<RunAttempt, 'span_id'>;

const STEP = columns(
  'run_steps',
  `attempt, number, parent, kind, name, node, namespace, task_id, superstep, checkpoint_id, started_at, ended_at, status,
   error, model, provider, tokens_in, tokens_cached, tokens_out, cost`,
);
const ATTEMPT = columns(
  'run_attempts',
  'attempt, worker_id, started_at, ended_at, status, resumed_from_run_id',
);

/** A place in the steps of a run: after the step with this number of this attempt. */
export interface StepPosition {
  readonly attempt: number;
  readonly number: number;
}

export type RunStepRepository = ReturnType<typeof runStepRepository>;

/** What runs did; written under the lease of an attempt (`WriteBuffer`). */
export function runStepRepository(db: Db, active: Pick<ActiveAttempts, 'whenFlushed' | 'currentSteps'>) {
  return {
    /** Steps that are not stored yet; `undefined` if the run does not execute in this process, or cannot say. */
    current: ({ thread_id, run_id }: { thread_id: string; run_id: string }) =>
      active.currentSteps(thread_id, run_id),

    /** The steps after `from`, at most `limit`, by attempt and number. Includes what an attempt here has recorded. */
    async steps(
      { thread_id, run_id }: { thread_id: string; run_id: string },
      from: StepPosition,
      limit: number,
    ): Promise<StoredStep[]> {
      await active.whenFlushed(thread_id);
      const rows = await db.all(sql`select ${STEP} from run_steps
        where run_id = ${run_id} and (attempt, number) > (${from.attempt}, ${from.number})
        order by attempt, number limit ${limit}`);
      return rows.map((row) => stepOf(db.cipher, row));
    },

    /** One step, with what it was given and returned if that was kept; `undefined` if it is not stored. */
    async step(
      { thread_id, run_id }: { thread_id: string; run_id: string },
      { attempt, number }: StepPosition,
    ): Promise<{ step: StoredStep; contents: StoredContents | undefined } | undefined> {
      await active.whenFlushed(thread_id);
      const row = await db.get(sql`select ${STEP} from run_steps
        where run_id = ${run_id} and attempt = ${attempt} and number = ${number}`);
      if (!row) return undefined;
      const step = stepOf(db.cipher, row);
      return {
        step,
        contents: await readContents(db, { thread_id, run_id, attempt, number, node: step.node }),
      };
    },

    /** The attempts of a run, in order. */
    attempts(run_id: string): Promise<StoredAttempt[]> {
      return db.all(sql`select ${ATTEMPT} from run_attempts where run_id = ${run_id} order by attempt`);
    },
  };
}

function stepOf<Row extends { error: unknown }>(cipher: Cipher, row: Row) {
  return decryptJsonColumns(cipher, row as never, { error: STEP_ERROR_COLUMN }) as StoredStep;
}

/** A step as it is stored. */
export type BatchStep = PricedStep & {
  /** With `runs.record: contents`. */
  readonly masked?: MaskedContents;
};

/** Whether it stands for itself, and not for calls beyond the limit of steps, which have no rows. */
export function isStep({ calls }: Pick<RecordedStep, 'calls'>): boolean {
  return calls === undefined;
}

/**
 * Part of a transaction that has checked the lease: stores the steps. Resolves to the calls of models among them that were
 * not stored before, as the response to a commit may be lost: `isRepeated` means that some may be.
 */
export async function insertSteps(
  tx: Transaction,
  lease: Lease,
  steps: readonly BatchStep[],
  isRepeated: boolean,
): Promise<readonly PricedStep[]> {
  const contents = steps.flatMap(({ masked }) => masked ?? []);
  const numbers = contents.length === 0 ? NONE : await putTexts(tx, lease.thread_id, contents);
  const rows = (some: readonly BatchStep[]) => rowsOf(tx, lease, some, numbers);
  const ofModels = modelCalls(steps);
  const others = ofModels.length === 0 ? steps : steps.filter(({ kind }) => kind !== 'model');
  await insertRows(tx, INTO, rows(others), ONCE);
  if (ofModels.length === 0) return [];
  const calls = ofModels.filter(isStep);
  const inserted = await insertRowsReturning(tx, INTO, rows(calls), {
    onConflict: ONCE,
    returning: columns('run_steps', 'number'),
  });
  const stored = new Set(inserted.map(({ number }) => number));
  return ofModels.filter((step) => (isStep(step) ? stored.has(step.number) : !isRepeated));
}

export function modelCalls(steps: readonly BatchStep[]): BatchStep[] {
  return steps.filter(({ kind }) => kind === 'model');
}

const INTO = sql`run_steps (run_id, attempt, number, parent, kind, name, node, namespace, task_id, superstep,
  checkpoint_id, started_at, ended_at, status, error, model, provider, tokens_in, tokens_cached, tokens_out, cost, texts, contents)`;
const NONE: ReadonlyMap<string, number> = new Map();
const ONCE = sql`on conflict (run_id, attempt, number) do nothing`;

function rowsOf(
  tx: Transaction,
  { run_id, starts: attempt }: Lease,
  steps: readonly BatchStep[],
  numbers: ReadonlyMap<string, number>,
): Sql[] {
  return steps.map((step) => {
    const own = step.masked?.own;
    const contents = own === undefined ? null : tx.cipher.encryptText(STEP_CONTENTS_COLUMN, own);
    const error = step.error && tx.cipher.encryptJson(STEP_ERROR_COLUMN, toJson(step.error));
    return sql`(${run_id}, ${attempt}, ${step.number}, ${step.parent}, ${step.kind}, ${step.name}, ${step.node},
      ${step.namespace}, ${step.task_id}, ${step.superstep}, ${step.checkpoint_id},
      ${timestamp(step.started_at)}, ${timestamp(step.ended_at)}, ${step.status}, ${error}, ${step.model},
      ${step.provider}, ${step.tokens_in}, ${step.tokens_cached}, ${step.tokens_out}, ${step.cost},
      ${textsOf(step, numbers)}, ${contents})`;
  });
}

/** The column `texts`: null if the step has no texts. */
function textsOf({ masked }: BatchStep, numbers: ReadonlyMap<string, number>): string | null {
  if (!masked || masked.shared.length === 0) return null;
  const named = masked.shared.map(([name, texts]) => [
    name,
    toRanges(texts.flatMap(({ hash }) => numbers.get(hash) ?? [])),
  ]);
  return toJson(Object.fromEntries(named));
}

/** An attempt as the worker that executes it knows it. */
export interface AttemptRecord {
  readonly worker_id: string;
  /** Epoch ms. */
  readonly started: number;
  /** Epoch ms; undefined while it executes. */
  readonly ended?: number;
  readonly status: Exclude<AttemptStatus, 'lost'>;
  /** The run that it resumed; undefined for most. */
  readonly resumed_from_run_id?: string | undefined;
}

/** Part of a transaction that has checked the lease. */
export function putAttempt(
  tx: Transaction,
  { run_id, starts: attempt }: Lease,
  { worker_id, started, ended, status, resumed_from_run_id }: AttemptRecord,
): void {
  const ended_at = ended === undefined ? null : timestamp(ended);
  tx.defer(sql`
    insert into run_attempts (run_id, attempt, worker_id, started_at, ended_at, status, resumed_from_run_id)
    values (${run_id}, ${attempt}, ${worker_id}, ${timestamp(started)}, ${ended_at}, ${status}, ${resumed_from_run_id ?? null})
    on conflict (run_id, attempt) do update set ended_at = excluded.ended_at, status = excluded.status,
      resumed_from_run_id = excluded.resumed_from_run_id`);
}

import { inUtc } from '../../core/clock.ts';
import { type DialectSql, raw } from '../../db/sql.ts';
import { Timestamp } from '../../schemas/fields.ts';

/** Inclusive and exclusive, in UTC. */
export interface DeadlineRange {
  readonly deadline_from?: string | undefined;
  readonly deadline_to?: string | undefined;
}

/** Until when an interrupt asks to be answered: `deadline` of its value, ISO-8601 with a time zone. Returned in UTC. */
export function deadlineOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !('deadline' in value)) return undefined;
  const { success, data } = Timestamp.safeParse(value.deadline);
  return success ? inUtc(data) : undefined;
}

export function hasDeadlineRange({ deadline_from, deadline_to }: DeadlineRange): boolean {
  return deadline_from !== undefined || deadline_to !== undefined;
}

/** Interrupts without a deadline are in no range. */
export function isDueWithin(range: DeadlineRange, deadline: string | undefined): boolean {
  if (!hasDeadlineRange(range)) return true;
  const { deadline_from = '', deadline_to } = range;
  return (
    deadline !== undefined &&
    deadline >= deadline_from &&
    (deadline_to === undefined || deadline < deadline_to)
  );
}

/** Where interrupts are not encrypted: a thread without it has no deadline, and need not be read. */
export const MAY_HAVE_DEADLINE: DialectSql = {
  sqlite: raw(`instr(threads.interrupts, '"deadline"') > 0`),
  postgres: raw(`position('"deadline"' in threads.interrupts::text) > 0`),
};

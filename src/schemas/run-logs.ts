import { z } from 'zod';
import { Name } from './bounds.ts';
import { QueryFlag, queryInt, Timestamp } from './fields.ts';
import { MAX_INTEGER } from './numbers.ts';

/** Maximum number of lines stored per run. */
export const MAX_LOG_LINES = 1000;

export const RunLogsQuery = z.object({
  after: queryInt({ min: 0, max: MAX_INTEGER })
    .optional()
    .meta({ description: 'Only lines after the one with this `seq`; by default the newest lines.' }),
  limit: queryInt({ min: 1, max: MAX_LOG_LINES })
    .default(MAX_LOG_LINES)
    .meta({ description: 'How many lines to return.' }),
  stream: QueryFlag.optional().meta({
    description: 'Whether to stream the lines as events, including future ones, until the run ends.',
  }),
});
export type RunLogsQuery = z.infer<typeof RunLogsQuery>;

export const RunLogsHeaders = z.looseObject({
  accept: z.string().optional().meta({ description: '`text/event-stream` is equivalent to `stream`.' }),
  'last-event-id': z.string().optional().meta({ description: 'The last id received; replaces `after`.' }),
});
export type RunLogsHeaders = z.infer<typeof RunLogsHeaders>;

/** A line that the code of a run printed, or that the server logged about it. */
export const RunLogLine = z.object({
  /** Number of the line in its run, from 1. Dropped lines leave gaps. */
  seq: z.int(),
  time: Timestamp,
  level: z.enum(['debug', 'info', 'warn', 'error']),
  /** At most 8 KiB, without known secrets. */
  message: z.string(),
  /** The node that printed it, if it is known. */
  node: z.string().nullable(),
  /** `file:line:column` in the project, for `console` only; null in a run that prints too fast. */
  at: z.string().nullable(),
  /** Attempt of the run, from 1. */
  attempt: z.int(),
});
export type RunLogLine = z.infer<typeof RunLogLine>;

/** Levels of lines, lowest first. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const satisfies RunLogLine['level'][];

/** A line of any run. */
export interface LogLine extends RunLogLine {
  readonly run_id: string;
  readonly thread_id: string;
  readonly assistant_id: string;
}

export const LogsQuery = z.object({
  assistant_id: Name.min(1).optional().meta({ description: 'Only lines of this assistant or graph.' }),
  level: z.enum(LOG_LEVELS).default('debug').meta({ description: 'Only lines of this level and above.' }),
});
export type LogsQuery = z.infer<typeof LogsQuery>;

import { z } from 'zod';
import type { JsonObject } from './fields.ts';
import { LogsQuery, type RunLogLine } from './run-logs.ts';

export const ServerLogQuery = LogsQuery.pick({ level: true });
export type ServerLogQuery = z.infer<typeof ServerLogQuery>;

export const ServerLogHeaders = z.looseObject({
  'last-event-id': z
    .string()
    .optional()
    .meta({ description: 'The last id received: only later lines are sent, if the same process answers.' }),
});

/** A line of the log of one process. */
export interface ServerLogLine extends Pick<RunLogLine, 'seq' | 'time' | 'level' | 'message'> {
  readonly host: string;
  readonly pid: number;
  /** Fields of the line besides time, level and message. */
  readonly fields: JsonObject;
}

import { z } from 'zod';
import { JsonObject } from './fields.ts';

/** `check_db=1` asks the database too (CONTRACT §2.9). */
export const HealthQuery = z.looseObject({
  check_db: z
    .enum(['0', '1'])
    .optional()
    .meta({ description: 'Whether to check the database too: 1 for yes.', type: 'integer', enum: [0, 1] }),
});

export const Health = z.object({
  ok: z.literal(true),
  /** What was checked, such as `{"database": "ok"}`. */
  services: z.record(z.string(), z.string()),
});
export type Health = z.infer<typeof Health>;

/** What clients and Studio look at before they offer a feature (CONTRACT §2.9). */
export const ServerInfo = z.object({
  /** The version of the official API that is served; clients compare it. */
  version: z.string(),
  langgraph_js_version: z.string().nullable(),
  context: z.literal('js'),
  flags: z.record(z.string(), z.boolean()),
  host: JsonObject,
  metadata: JsonObject,
  server: z.object({ name: z.string(), version: z.string() }),
});
export type ServerInfo = z.infer<typeof ServerInfo>;

export const MetricsQuery = z.looseObject({
  format: z
    .string()
    .optional()
    .meta({
      description: 'Any other value returns `prometheus`.',
      enum: ['prometheus', 'json'],
    }),
});

/** Runs that wait or execute. Times in seconds; null when nothing waits. */
export const QueueStats = z.object({
  n_pending: z.int(),
  n_running: z.int(),
  pending_runs_wait_time_max_secs: z.number().nullable(),
  pending_runs_wait_time_med_secs: z.number().nullable(),
  /** Of runs that wait for a worker only, not for another run of their thread. */
  pending_unblocked_runs_wait_time_max_secs: z.number().nullable(),
});
export type QueueStats = z.infer<typeof QueueStats>;

/** Run slots of this process. */
export const WorkerStats = z.object({ max: z.int(), active: z.int(), available: z.int() });
export type WorkerStats = z.infer<typeof WorkerStats>;

/** Crons that make runs, and those of them whose time has come but which are not served yet. */
export const CronStats = z.object({ n_crons: z.int(), n_overdue_crons: z.int() });
export type CronStats = z.infer<typeof CronStats>;

/** What waits to be sent and what was given up, on all processes; and the tries of this one. */
export const WebhookStats = z.object({
  pending: z.int(),
  dead: z.int(),
  delivered: z.int(),
  failed: z.int(),
});
export type WebhookStats = z.infer<typeof WebhookStats>;

export const RequestCount = z.object({
  method: z.string(),
  path: z.string(),
  status: z.int(),
  count: z.int(),
});
export type RequestCount = z.infer<typeof RequestCount>;

export const Metrics = z.object({
  queue: QueueStats,
  api: z.object({ http_requests_total: z.array(RequestCount) }),
  workers: WorkerStats,
});
export type Metrics = z.infer<typeof Metrics>;

/** A run that has ended in this process, for who counts them. */
export interface EndedRun {
  readonly graph_id: string;
  readonly status: string;
  /** How long its last attempt executed, ms; undefined of one whose worker was lost. */
  readonly ms: number | undefined;
  /** From its time to its first attempt, ms; undefined of a later attempt. */
  readonly queue_ms: number | undefined;
}

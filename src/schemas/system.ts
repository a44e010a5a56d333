import { z } from 'zod';
import { JsonObject } from './fields.ts';

/** `check_db=1` also checks the database (CONTRACT §2.9). */
export const HealthQuery = z.looseObject({
  check_db: z
    .enum(['0', '1'])
    .optional()
    .meta({ description: 'Whether to check the database too: 1 for yes.', type: 'integer', enum: [0, 1] }),
});

export const Health = z.object({
  ok: z.literal(true),
  /** Checked services, such as `{"database": "ok"}`. */
  services: z.record(z.string(), z.string()),
});
export type Health = z.infer<typeof Health>;

/** Feature detection for clients and Studio (CONTRACT §2.9). */
export const ServerInfo = z.object({
  /** Version of the official API that is implemented; clients compare it. */
  version: z.string(),
  langgraph_js_version: z.string().nullable(),
  context: z.literal('js'),
  flags: z.record(z.string(), z.boolean()),
  host: JsonObject,
  metadata: JsonObject,
  server: z.object({
    name: z.string(),
    version: z.string(),
    /** Processes that execute graphs, and how many take work; absent if the server's own process does. */
    hosts: z.object({ count: z.int(), ready: z.int() }).optional(),
  }),
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

/** Pending and running runs. Times in seconds; `null` if none is pending. */
export const QueueStats = z.object({
  n_pending: z.int(),
  n_running: z.int(),
  pending_runs_wait_time_max_secs: z.number().nullable(),
  pending_runs_wait_time_med_secs: z.number().nullable(),
  /** Only runs that wait for a worker, not for another run of their thread. */
  pending_unblocked_runs_wait_time_max_secs: z.number().nullable(),
});
export type QueueStats = z.infer<typeof QueueStats>;

/** A process that executes graphs for the server. */
export const HostView = z.object({
  /** Counts from 1; a process that replaces another keeps its number. */
  number: z.int(),
  pid: z.int().nullable(),
  /** It has loaded the project and takes work. */
  ready: z.boolean(),
  /** Runs that it executes. */
  active: z.int(),
  /** Runs that it was given since it started. */
  n_runs: z.int(),
  /** How long its event loop has been blocked, ms. */
  blocked_ms: z.number(),
  memory_bytes: z.number().nullable(),
  /** How often a process with this number was started again. */
  restarts: z.int(),
});
export type HostView = z.infer<typeof HostView>;

/** Run slots of this process. */
export const WorkerStats = z.object({ max: z.int(), active: z.int(), available: z.int() });
export type WorkerStats = z.infer<typeof WorkerStats>;

/** Scheduled crons, and overdue ones that have not fired yet. */
export const CronStats = z.object({ n_crons: z.int(), n_overdue_crons: z.int() });
export type CronStats = z.infer<typeof CronStats>;

/** Pending and dead deliveries of all processes; attempts of this one. */
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

/** A run that ended in this process, for metrics. */
export interface EndedRun {
  readonly graph_id: string;
  readonly status: string;
  /** Duration of its last attempt, ms; `undefined` if its worker was lost. */
  readonly ms: number | undefined;
  /** From its due time to its first attempt, ms; `undefined` for a later attempt. */
  readonly queue_ms: number | undefined;
}

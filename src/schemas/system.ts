import { z } from 'zod';
import { Name } from './bounds.ts';
import { JsonObject, queryInt, Timestamp, Uuid } from './fields.ts';
import { nameResponses } from './named.ts';
import type { PricedStep } from './steps.ts';

/** `check_db=1` also checks the database (contract §2.9); `live=1` asks for liveness instead of readiness. */
export const HealthQuery = z.object({
  check_db: z
    .enum(['0', '1'])
    .optional()
    .meta({ description: 'Whether to check the database too: 1 for yes.', type: 'integer', enum: [0, 1] }),
  live: z
    .enum(['0', '1'])
    .optional()
    .meta({
      description: 'Whether to check only that the process makes progress: 1 for yes.',
      type: 'integer',
      enum: [0, 1],
    }),
});

export const Health = z.object({
  ok: z.literal(true),
  /** Checked services, such as `{"database": "ok"}`. */
  services: z.record(z.string(), z.string()),
});
export type Health = z.infer<typeof Health>;

/** Feature detection for clients and Studio (contract §2.9). */
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
    /** Graph hosts, and how many accept work; absent if the server's own process executes graphs. */
    hosts: z.object({ count: z.int(), ready: z.int() }).optional(),
  }),
});
export type ServerInfo = z.infer<typeof ServerInfo>;

export const MetricsQuery = z.object({
  format: Name.optional().meta({
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
/** Only the counts. */
export type QueueCounts = Pick<QueueStats, 'n_pending' | 'n_running'>;

/** A process that executes graphs for the server. */
export const HostView = z.object({
  /** Counts from 1; a replacement process keeps the number. */
  number: z.int(),
  pid: z.int().nullable(),
  /** Whether it has loaded the project and accepts work. */
  ready: z.boolean(),
  /** Runs that it is executing. */
  active: z.int(),
  /** Runs that it has been given since its start. */
  n_runs: z.int(),
  /** How long its event loop has been blocked, ms. */
  blocked_ms: z.number(),
  memory_bytes: z.number().nullable(),
  /** How often the process with this number was restarted. */
  restarts: z.int(),
});
export type HostView = z.infer<typeof HostView>;

/** Run slots of this process. */
export const WorkerStats = z.object({ max: z.int(), active: z.int(), available: z.int() });
export type WorkerStats = z.infer<typeof WorkerStats>;

/** Liveness of the loops of this process. */
export interface EngineProgress {
  /**
   * Time since the last iteration of the claim loop, ms; `undefined` if this process claims no runs, or has
   * stopped claiming.
   */
  readonly claim_loop_age_ms: number | undefined;
  /** Lease renewals since its start that were more than a heartbeat interval late. */
  readonly late_renewals: number;
}

/** Connections of one pool of this process. */
export interface ConnectionStats {
  readonly max: number;
  readonly open: number;
  readonly idle: number;
  /** Callers currently waiting for a connection. */
  readonly waiting: number;
  /** Callers that had to wait, in total. */
  readonly queued: number;
  /** Callers that got no connection, in total. */
  readonly errors: number;
}

/** Connections by pool, and retries of statements by error code. Empty for SQLite. */
export interface DatabaseStats {
  readonly pools: Readonly<Record<string, ConnectionStats>>;
  readonly retries: Readonly<Record<string, number>>;
}

/** Spans that this process has sent, dropped because the collector did not accept them, and still buffers. */
export interface TraceStats {
  readonly sent: number;
  readonly dropped: number;
  readonly waiting: number;
}

/** Scheduled crons, and overdue ones that have not fired yet. */
export const CronStats = z.object({ n_crons: z.int(), n_overdue_crons: z.int() });
export type CronStats = z.infer<typeof CronStats>;

/** Pending and dead deliveries of all processes; attempts of this one. */
export const WebhookStats = z.object({
  pending: z.int(),
  dead: z.int(),
  /** Age of the oldest pending delivery, seconds; null if none is. */
  oldest_pending_secs: z.number().nullable(),
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
  /** The limit of an extension that stopped it. */
  readonly stopped_by?: { readonly scope: string; readonly limit: string } | undefined;
}

/** Steps of a run that a commit of this process has stored, for metrics. */
export interface StoredSteps {
  readonly graph_id: string;
  readonly assistant_id: string;
  /** With their cost in the configured currency; null without a price. */
  readonly steps: readonly PricedStep[];
}

/** A live process on the database. */
export const ProcessView = z.object({
  worker_id: Uuid,
  host: z.string(),
  pid: z.int(),
  version: z.string(),
  /** `null` while the process starts. */
  role: z.enum(['all', 'api', 'worker']).nullable(),
  /** Runs that it executes at the same time, as of its last heartbeat; 0 means none. */
  slots: z.int(),
  /** Graph hosts; 0: it executes graphs itself. `null` while the process starts. */
  hosts: z.int().nullable(),
  started_at: Timestamp,
});
export type ProcessView = z.infer<typeof ProcessView>;

export const LeaseQuery = z.object({
  limit: queryInt({ min: 1, max: 1000 }).default(100).meta({ description: 'How many leases to return.' }),
});
export type LeaseQuery = z.infer<typeof LeaseQuery>;

/** A run that a process executes. */
export const LeaseView = z.object({
  run_id: Uuid,
  thread_id: Uuid,
  /** `null` if the run was deleted and is being stopped. */
  assistant_id: Uuid.nullable(),
  /** Counts from 1. */
  attempt: z.int(),
  /** When this attempt began. */
  started_at: Timestamp.nullable(),
  worker_id: Uuid,
  host: z.string(),
  pid: z.int(),
  /** When the lease expires unless the process renews it, which it does every few seconds. */
  expires_at: Timestamp,
});
export type LeaseView = z.infer<typeof LeaseView>;

nameResponses({ Health, ServerInfo, Metrics, Lease: LeaseView });

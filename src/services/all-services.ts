import type { Actor, Identity, User } from '../auth/actor.ts';
import type { KeyRing } from '../auth/api-keys.ts';
import type { Authenticate } from '../auth/authenticate.ts';
import type { BrowserTokens } from '../auth/browser-tokens.ts';
import type { Clock } from '../core/clock.ts';
import type { Ids } from '../core/ids.ts';
import type { Logger } from '../core/logger.ts';
import type { RecentLog } from '../core/recent-log.ts';
import type { EventBus } from '../events/bus.ts';
import { currentSteps } from '../events/current-steps.ts';
import { followSources } from '../events/follow-sources.ts';
import type { LiveRuns } from '../events/writer.ts';
import { threadCheckpointer } from '../graphs/checkpointer/open.ts';
import type { GraphMemory, GraphRegistry } from '../graphs/graph.ts';
import type { LongTermStore } from '../graphs/store/long-term-store.ts';
import type { ProcessIdentity } from '../schemas/system-history.ts';
import type { Storage } from '../storage/storage.ts';
import type { Ttl } from '../storage/threads/row.ts';
import { type AssistantService, assistantService } from './assistants/assistants.ts';
import { assistantRunDeletion } from './assistants/delete-runs.ts';
import type { RunLimits } from './assistants/run-config.ts';
import type { SystemDefaults } from './assistants/system-assistants.ts';
import { changeService } from './changes.ts';
import { CronDeferrals } from './crons/cron-deferrals.ts';
import { type CronExplainDeps, cronExplain } from './crons/cron-explain.ts';
import { cronTicks, type MissedPolicy } from './crons/cron-ticks.ts';
import { cronService } from './crons/crons.ts';
import { eventStreamingService } from './event-streaming/event-streaming.ts';
import { idempotencyService } from './idempotency.ts';
import { type KeyDeps, keyService } from './keys.ts';
import { newestLogService } from './runs/newest-logs.ts';
import { type ExplainDeps, runExplain } from './runs/run-explain.ts';
import { type RunGraphDeps, runGraphService } from './runs/run-graph.ts';
import { runLogService } from './runs/run-logs.ts';
import { runSearchService } from './runs/run-search.ts';
import { type RunStepDeps, runStepService } from './runs/run-steps.ts';
import { runService } from './runs/runs.ts';
import { statelessRunService } from './runs/stateless-runs.ts';
import { type ServerLogDeps, serverLogService } from './server-log.ts';
import { storeService } from './store.ts';
import { type SystemDeps, systemService } from './system.ts';
import { interruptService } from './threads/interrupts.ts';
import { stateAfterRun } from './threads/state-after-run.ts';
import { type ThreadExplainDeps, threadExplain } from './threads/thread-explain.ts';
import { threadStateService } from './threads/thread-state.ts';
import { threadStreamService } from './threads/thread-stream.ts';
import { threadTreeService } from './threads/thread-tree.ts';
import { threadService } from './threads/threads.ts';
import { tokenService } from './tokens.ts';
import { type DeliveryExplainDeps, deliveryExplain } from './webhooks/delivery-explain.ts';
import type { WebhookPolicy } from './webhooks/webhook-policy.ts';
import { webhookService } from './webhooks/webhooks.ts';

/** Dependencies of the services. */
export interface ServiceContext {
  readonly logger: Logger;
  /** The newest log lines; `undefined` if this process does not write the log. */
  readonly recent_log: RecentLog | undefined;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Id of this process, whether it executes runs or only serves requests. */
  readonly worker_id: string;
  /** How lists and logs name this process. */
  readonly process: ProcessIdentity;
  /** As in `RunGraphDeps`. */
  readonly executor_id?: RunGraphDeps['executor_id'];
  readonly storage: Storage;
  /** Warnings of the system overview. */
  readonly warnings: SystemDeps['warnings'];
  /** Versions that the system overview reports. */
  readonly versions: SystemDeps['versions'];
  readonly graphs: GraphRegistry;
  readonly bus: EventBus;
  readonly live: LiveRuns;
  readonly longTermStore: LongTermStore;
  /** The same store behind the interface that graphs use. */
  readonly store: GraphMemory['store'];
  /** Which webhook URLs clients may register. */
  readonly webhooks: WebhookPolicy;
  readonly access: {
    readonly tokens: BrowserTokens;
    readonly keys: KeyRing;
    /** Undefined without authentication. */
    readonly authenticate: Authenticate | undefined;
    readonly has_users: boolean;
    /** Identity for work without a request, such as a cron's run; access rules are evaluated when it acts. */
    readonly identityForUser: (user: User | null) => Identity;
  };
  /** Retention of an ended run's event log, ms. */
  readonly log_retention_ms: number;
}

/** Configuration values that services need. */
export interface ServiceSettings extends Omit<RunLimits, 'riders'> {
  /** TTL of threads created without one; `undefined` means no expiry. */
  readonly default_ttl: Ttl | undefined;
  readonly sends_webhooks: boolean;
  /** How long a webhook delivery is retried, ms. */
  readonly give_up_ms: number;
  /** This process creates the runs of crons. */
  readonly fires_crons: boolean;
  readonly max_attempts: number;
  readonly assistant_defaults: SystemDefaults;
  readonly missed_crons: MissedPolicy;
  /** Folder of the configuration. */
  readonly root: string;
}

/** All services by name; a route plugin takes the ones it uses. */
export type Services = ReturnType<typeof createServices>;

/** The only place where services are created and wired. */
export function createServices(
  { storage, bus, live, store, ...context }: ServiceContext,
  { assistant_defaults, missed_crons, root, ...settings }: ServiceSettings,
) {
  const { queue, checkpoints, runs: runRows, threads: threadRows } = storage;
  const shared = {
    ...context,
    ...settings,
    riders: storage.riders,
    bus,
    queue,
    checkpoints,
    assistants: storage.assistants,
    threads: threadRows,
    runs: runRows,
  };
  const sources = followSources({ storage, live, bus });

  const memory = (thread_id: string, import_id?: string) => ({
    checkpointer: threadCheckpointer({ checkpoints, thread_id, import_id, ids: context.ids }),
    store,
  });
  const threadState = threadStateService({ ...shared, memory });
  const storeStateAfterRun = stateAfterRun({ ...shared, memory });
  const { refreshStatus, refreshState, importHistory } = threadState;
  const assistants = assistantService({
    ...shared,
    ...{ defaults: assistant_defaults, root: context.executor_id === undefined ? root : undefined },
    runs: assistantRunDeletion({ ...shared, refreshState }),
  });
  const { runCheckpoints, crons, cronFires } = storage;
  const runDeps = { ...shared, sources, runCheckpoints, refreshStatus, storeStateAfterRun, assistants };
  const runs = runService(runDeps);
  const statelessRuns = statelessRunService(runDeps);
  const threads = threadService({
    ...shared,
    importHistory,
    notifyCancelled(run_ids) {
      for (const run_id of run_ids) stopRun(bus, run_id);
    },
  });
  const deferrals = new CronDeferrals(context.clock);
  const cronDeps = { ...runDeps, crons, cronFires, missed: missed_crons, impersonate, deferrals };
  const stepsNow = currentSteps(bus, context.ids, storage.runSteps.current);
  return {
    assistants,
    threads,
    threadState,
    storeStateAfterRun,
    threadStream: threadStreamService(threadRows, sources),
    runs,
    statelessRuns,
    crons: cronService(cronDeps),
    cronTicks: cronTicks(cronDeps),
    tokens: tokenService(context.access.tokens, assistants, context.clock),
    ...systemServices({ ...context, ...settings, storage, bus }),
    store: storeService({ store: context.longTermStore }),
    idempotency: idempotencyService({ keys: storage.idempotency, worker_id: context.worker_id }),
    ...explanations({ ...cronDeps, outbox: storage.outbox, stepsNow }),
    ...listServices({ ...context, ...storage, bus, live, stepsNow, root }, assistants),
    eventStreaming: eventStreamingService({ ...shared, runs, threadState, runRows, sources }),
    webhooks: webhookService({ ...shared, outbox: storage.outbox }),
  };

  /** The actor for a user when there is no request. */
  function impersonate(user: User | null, request_id: string): Actor {
    return { ...context.access.identityForUser(user), request_id };
  }
}

function stopRun(bus: EventBus, run_id: string): void {
  bus.emit('run.cancelled', run_id);
  bus.updated(run_id);
  bus.emit('row.changed', 'run', run_id);
}

/** Read-only services. */
function listServices(
  deps: Storage &
    Pick<ServiceContext, 'bus' | 'live'> &
    Pick<RunStepDeps, 'stepsNow' | 'root'> &
    RunGraphDeps,
  assistants: AssistantService,
) {
  return {
    runGraph: runGraphService(deps),
    runSteps: runStepService(deps),
    runLogs: runLogService(deps),
    newestLogs: newestLogService({ ...deps, assistants }),
    runSearch: runSearchService(deps.runSearch, assistants),
    interrupts: interruptService({ ...deps, assistants }),
    threadTree: threadTreeService(deps.threads, deps.checkpoints),
  };
}

/** Services for the operators of the server. */
function systemServices(
  context: Pick<ServiceContext, 'storage' | 'bus' | 'access' | 'longTermStore'> &
    Omit<KeyDeps, 'apiKeys' | 'ring'> &
    SystemDeps &
    ServerLogDeps,
) {
  const { storage, access } = context;
  return {
    system: systemService(context),
    serverLog: serverLogService(context),
    changes: changeService({ ...context, ...storage }),
    keys: keyService({ ...context, apiKeys: storage.apiKeys, ring: access.keys }),
  };
}

function explanations(deps: ExplainDeps & ThreadExplainDeps & CronExplainDeps & DeliveryExplainDeps) {
  return {
    explain: runExplain(deps),
    threadExplain: threadExplain(deps),
    cronExplain: cronExplain(deps),
    deliveryExplain: deliveryExplain(deps),
  };
}

import type { Actor, Identity, User } from '../auth/actor.ts';
import type { BrowserTokens } from '../auth/browser-tokens.ts';
import type { Clock } from '../core/clock.ts';
import type { Ids } from '../core/ids.ts';
import { lazy } from '../core/lifecycle.ts';
import type { Logger } from '../core/logger.ts';
import type { EventBus } from '../events/bus.ts';
import { SafetyPoll } from '../events/safety-poll.ts';
import type { LiveRuns } from '../events/writer.ts';
import { threadCheckpointer } from '../graphs/checkpointer/open.ts';
import type { GraphMemory, GraphRegistry } from '../graphs/graph.ts';
import type { LongTermStore } from '../graphs/store/long-term-store.ts';
import { type UiOptions, uiBundles } from '../graphs/ui/bundle-cache.ts';
import type { Storage } from '../storage/storage.ts';
import type { Ttl } from '../storage/threads/row.ts';
import { assistantService } from './assistants/assistants.ts';
import { assistantRunDeletion } from './assistants/delete-runs.ts';
import type { SystemDefaults } from './assistants/system-assistants.ts';
import { chatCompletionService } from './chat/chat-completions.ts';
import { cronTicks, type MissedPolicy } from './crons/cron-ticks.ts';
import { cronService } from './crons/crons.ts';
import { eventStreamingService } from './event-streaming/event-streaming.ts';
import { idempotencyService } from './idempotency.ts';
import { mcpService } from './mcp/mcp.ts';
import { runExplain } from './runs/run-explain.ts';
import { runService } from './runs/runs.ts';
import { statelessRunService } from './runs/stateless-runs.ts';
import { storeService } from './store.ts';
import { threadStateService } from './threads/thread-state.ts';
import { threadStreamService } from './threads/thread-stream.ts';
import { threadService } from './threads/threads.ts';
import { tokenService } from './tokens.ts';
import { uiService } from './ui.ts';
import type { WebhookPolicy } from './webhooks/webhook-policy.ts';
import { webhookService } from './webhooks/webhooks.ts';

/** Dependencies of the services. */
export interface ServiceContext {
  readonly logger: Logger;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Id of this process, whether it executes runs or only serves requests. */
  readonly worker_id: string;
  readonly storage: Storage;
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
    /** Identity for work without a request, such as a cron's run; access rules are evaluated when it acts. */
    readonly identityForUser: (user: User | null) => Identity;
  };
  /** Aborted when graceful drain begins. */
  readonly draining: AbortSignal;
  /** Retention of an ended run's event log, ms. */
  readonly log_retention_ms: number;
}

/** Configuration values that services need. */
export interface ServiceSettings {
  /** TTL of threads created without one; `undefined` means no expiry. */
  readonly default_ttl: Ttl | undefined;
  readonly sends_webhooks: boolean;
  readonly max_recursion_limit: number;
  readonly max_attempts: number;
  readonly assistant_defaults: SystemDefaults;
  readonly missed_crons: MissedPolicy;
  readonly ui: Pick<UiOptions, 'paths' | 'root' | 'shared'>;
}

/** All services by name; a route plugin takes the ones it uses. */
export type Services = ReturnType<typeof createServices>;

/** The only place where services are created and wired. */
export function createServices(
  { storage, bus, live, store, ...context }: ServiceContext,
  { assistant_defaults, missed_crons, ui, ...settings }: ServiceSettings,
) {
  const { queue, events: log, threadLog, checkpoints, runs: runRows, threads: threadRows } = storage;
  const shared = {
    ...context,
    ...settings,
    bus,
    queue,
    checkpoints,
    assistants: storage.assistants,
    threads: threadRows,
    runs: runRows,
  };
  const poll = new SafetyPoll(storage.logEnds, live);
  const sources = { live, log, threadLog, bus, poll };

  const threadState = threadStateService({
    ...shared,
    memory: (thread_id) => ({
      checkpointer: threadCheckpointer({ checkpoints, thread_id, ids: context.ids }),
      store,
    }),
  });
  const { refreshStatus, importHistory } = threadState;
  const assistants = assistantService({
    ...shared,
    defaults: assistant_defaults,
    runs: assistantRunDeletion({ ...shared, refreshStatus }),
  });
  const { runCheckpoints } = storage;
  const runDeps = { ...shared, sources, runCheckpoints, refreshStatus, assistants };
  const runs = runService(runDeps);
  const statelessRuns = statelessRunService(runDeps);
  const threads = threadService({
    ...shared,
    importHistory,
    notifyCancelled: (run_ids) => run_ids.forEach(stopRun),
  });
  const { crons, cronFires } = storage;
  const cronDeps = { ...runDeps, crons, cronFires, missed: missed_crons, impersonate };
  const { tokens } = context.access;
  const a2aDeps = { ...shared, ...tasksOf(storage), runs, threads, threadState, assistants, sources };
  return {
    assistants,
    threads,
    threadState,
    threadStream: threadStreamService({ threads: threadRows, sources }),
    runs,
    statelessRuns,
    crons: cronService(cronDeps),
    cronTicks: cronTicks(cronDeps),
    tokens: tokenService({ tokens, assistants, clock: context.clock }),
    store: storeService({ store: context.longTermStore }),
    idempotency: idempotencyService({ keys: storage.idempotency, worker_id: context.worker_id }),
    explain: runExplain(shared),
    eventStreaming: eventStreamingService({ ...shared, runs, threadState, runRows, sources }),
    webhooks: webhookService({ ...shared, outbox: storage.outbox }),
    ui: uiService({ assistants, bundles: uiBundles({ ...context, ...ui }) }),
    a2a: lazy(async () => (await import('./a2a/a2a.ts')).a2aService(a2aDeps)),
    mcp: mcpService({ ...shared, runs, statelessRuns, threads, assistants, secrets: storage.secrets }),
    chatCompletions: chatCompletionService({ runs, statelessRuns, threads }),
  };

  /** The actor for a user when there is no request. */
  function impersonate(user: User | null, request_id: string): Actor {
    return { ...context.access.identityForUser(user), request_id };
  }

  function stopRun(run_id: string): void {
    bus.emit('run.cancelled', run_id);
    bus.updated(run_id);
  }
}

function tasksOf({ a2aTasks, a2aPush }: Storage) {
  return { tasks: a2aTasks, push: a2aPush };
}

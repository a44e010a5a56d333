import type { Actor, User } from '../auth/actor.ts';
import type { Config } from '../config/schema.ts';
import { lazy } from '../core/lifecycle.ts';
import { SafetyPoll } from '../events/safety-poll.ts';
import { threadCheckpointer } from '../graphs/checkpointer/open.ts';
import { uiBundles } from '../graphs/ui/bundle-cache.ts';
import type { Services } from '../http/server-deps.ts';
import { assistantService } from '../services/assistants/assistants.ts';
import { assistantRunDeletion } from '../services/assistants/delete-runs.ts';
import { chatCompletionService } from '../services/chat/chat-completions.ts';
import { type CronTicks, cronTicks } from '../services/crons/cron-ticks.ts';
import { cronService } from '../services/crons/crons.ts';
import { eventStreamingService } from '../services/event-streaming/event-streaming.ts';
import { idempotencyService } from '../services/idempotency.ts';
import { mcpService } from '../services/mcp/mcp.ts';
import { runExplain } from '../services/runs/run-explain.ts';
import { runService } from '../services/runs/runs.ts';
import { statelessRunService } from '../services/runs/stateless-runs.ts';
import { storeService } from '../services/store.ts';
import { threadStateService } from '../services/threads/thread-state.ts';
import { threadStreamService } from '../services/threads/thread-stream.ts';
import { threadService } from '../services/threads/threads.ts';
import { tokenService } from '../services/tokens.ts';
import { uiService } from '../services/ui.ts';
import { webhookService } from '../services/webhooks/webhooks.ts';
import type { Ttl } from '../storage/threads/row.ts';
import type { AppContext } from './context.ts';

/** What the server answers with. */
export function wireServices({
  config,
  storage,
  bus,
  live,
  store,
  ...context
}: AppContext): Services & { readonly cronTicks: CronTicks } {
  const { queue, events: log, threadLog, checkpoints, runs: runRows, threads: threadRows } = storage;
  const shared = {
    ...context,
    bus,
    queue,
    checkpoints,
    assistants: storage.assistants,
    threads: threadRows,
    runs: runRows,
    default_ttl: defaultTtl(config.checkpointer),
    sends_webhooks: !config.http.disable_webhooks,
    max_recursion_limit: config.runs.max_recursion_limit,
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
    defaults: config.assistants,
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
  const cronDeps = { ...runDeps, crons, cronFires, missed: config.crons.missed, impersonate };
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
    explain: runExplain({ ...shared, max_attempts: config.runs.max_attempts }),
    eventStreaming: eventStreamingService({ ...shared, runs, threadState, runRows, sources }),
    webhooks: webhookService({ ...shared, outbox: storage.outbox }),
    ui: uiService({ assistants, bundles: uiBundles({ ...context, ...uiFiles(config) }) }),
    a2a: lazy(async () => (await import('../services/a2a/a2a.ts')).a2aService(a2aDeps)),
    mcp: mcpService({ ...shared, runs, statelessRuns, threads, assistants, secrets: storage.secrets }),
    chatCompletions: chatCompletionService({ runs, statelessRuns, threads }),
  };

  /** Who acts for a user when there is no request. */
  function impersonate(user: User | null, request_id: string): Actor {
    return { ...context.access.identityForUser(user), request_id };
  }

  function stopRun(run_id: string): void {
    bus.emit('run.cancelled', run_id);
    bus.updated(run_id);
  }
}

function tasksOf({ a2aTasks, a2aPush }: AppContext['storage']) {
  return { tasks: a2aTasks, push: a2aPush };
}

function uiFiles({ ui, ui_config, root }: Config) {
  return { paths: ui, shared: ui_config.shared, root };
}

function defaultTtl({ ttl: { strategy, default_ttl: ttl } }: Config['checkpointer']): Ttl | undefined {
  return ttl === undefined ? undefined : { strategy, ttl };
}

import type { DialectName } from '../sql.ts';
import { base } from './001-base.ts';
import { runCheckpoints } from './002-run-checkpoints.ts';
import { storeSearch } from './003-store-search.ts';
import { search } from './004-search.ts';
import { crons } from './005-crons.ts';
import { webhooks } from './006-webhooks.ts';
import { apiKeys } from './007-api-keys.ts';
import { a2aTasks } from './009-a2a-tasks.ts';
import { serverSecrets } from './010-server-secrets.ts';
import { a2aPush } from './011-a2a-push.ts';
import { queueRecovery } from './012-queue-recovery.ts';
import { runMarkers } from './013-run-markers.ts';
import { a2aTaskStates } from './014-a2a-task-states.ts';
import { migrationCompatibility } from './015-migration-compatibility.ts';
import { manyProcesses } from './016-many-processes.ts';
import { runSteps } from './017-run-steps.ts';
import { runLists } from './018-run-lists.ts';
import { systemOverview } from './019-system-overview.ts';
import { runLogs } from './020-run-logs.ts';
import { waitingThreads } from './021-waiting-threads.ts';
import { usage } from './022-usage.ts';
import { budgets } from './023-budgets.ts';
import { resumedRuns } from './024-resumed-runs.ts';
import { runPriority } from './025-run-priority.ts';
import { deployments } from './026-deployments.ts';
import { deploymentHooks } from './027-deployment-hooks.ts';
import { threadDeletions } from './028-thread-deletions.ts';
import { canaries } from './029-canaries.ts';
import { deliveryWorkers } from './030-delivery-workers.ts';
import { standardNames } from './031-standard-names.ts';
import { removedRunLogs } from './032-removed-run-logs.ts';
import { removedRunOrigins } from './033-removed-run-origins.ts';
import { agentsAndAnswers } from './034-agents-and-answers.ts';
import { interruptAnswers } from './035-interrupt-answers.ts';
import { executingRevisions } from './036-executing-revisions.ts';
import { taskPaths } from './037-task-paths.ts';
import { unfinishedImports } from './038-unfinished-imports.ts';
import { revokedSessions } from './039-revoked-sessions.ts';
import { base } from './base/base.ts';

export interface Migration {
  /** Ascending order of application. Never changed once released. */
  readonly version: number;
  readonly name: string;
  /**
   * Statements that each end with `;` at the end of a line, with `{…}` for the engine's types (`migrate.ts`). One text
   * per engine where they share nothing.
   */
  readonly text: string | Readonly<Record<DialectName, string>>;
  /**
   * It only adds what programs without it can ignore: tables, indexes, columns that have a default or may be null. Such
   * programs keep serving during and after it. Without this mark they refuse to start.
   */
  readonly expands?: true;
}

/** Lower numbers were those of schemas before the first release: a database that has one of them is refused. */
export const migrations: readonly Migration[] = [{ version: 40, name: 'base', text: base }];

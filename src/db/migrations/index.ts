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
import { cronsOfRuns } from './040-crons-of-runs.ts';

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

export const migrations: readonly Migration[] = [
  { version: 1, name: 'base', text: base },
  { version: 2, name: 'run checkpoints', text: runCheckpoints },
  { version: 3, name: 'store search', text: storeSearch },
  { version: 4, name: 'search', text: search },
  { version: 5, name: 'crons', text: crons },
  { version: 6, name: 'webhooks', text: webhooks },
  { version: 7, name: 'api keys', text: apiKeys },
  { version: 9, name: 'a2a tasks', text: a2aTasks },
  { version: 10, name: 'server secrets', text: serverSecrets },
  { version: 11, name: 'a2a push', text: a2aPush },
  { version: 12, name: 'queue recovery', text: queueRecovery },
  { version: 13, name: 'run markers', text: runMarkers },
  { version: 14, name: 'a2a task states', text: a2aTaskStates },
  { version: 15, name: 'migration compatibility', text: migrationCompatibility, expands: true },
  { version: 16, name: 'many processes', text: manyProcesses, expands: true },
  { version: 17, name: 'run steps', text: runSteps, expands: true },
  { version: 18, name: 'run lists', text: runLists, expands: true },
  { version: 19, name: 'system overview', text: systemOverview, expands: true },
  { version: 20, name: 'run logs', text: runLogs, expands: true },
  { version: 21, name: 'waiting threads', text: waitingThreads, expands: true },
  { version: 22, name: 'usage', text: usage, expands: true },
  { version: 23, name: 'budgets', text: budgets, expands: true },
  { version: 24, name: 'resumed runs', text: resumedRuns, expands: true },
  { version: 25, name: 'run priority', text: runPriority, expands: true },
  { version: 26, name: 'deployments', text: deployments, expands: true },
  { version: 27, name: 'deployment hooks', text: deploymentHooks, expands: true },
  { version: 28, name: 'thread deletions', text: threadDeletions, expands: true },
  { version: 29, name: 'canaries', text: canaries, expands: true },
  { version: 30, name: 'delivery workers', text: deliveryWorkers, expands: true },
  { version: 31, name: 'standard names', text: standardNames },
  { version: 32, name: 'removed run logs', text: removedRunLogs, expands: true },
  { version: 33, name: 'removed run origins', text: removedRunOrigins, expands: true },
  { version: 34, name: 'agents and answers', text: agentsAndAnswers, expands: true },
  { version: 35, name: 'interrupt answers', text: interruptAnswers, expands: true },
  { version: 36, name: 'executing revisions', text: executingRevisions, expands: true },
  { version: 37, name: 'task paths', text: taskPaths, expands: true },
  { version: 38, name: 'unfinished imports', text: unfinishedImports, expands: true },
  { version: 39, name: 'revoked sessions', text: revokedSessions, expands: true },
  { version: 40, name: 'crons of runs', text: cronsOfRuns, expands: true },
];

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

export interface Migration {
  /** Ascending order of application. Never changed once released. */
  readonly version: number;
  readonly name: string;
  /**
   * Statements that each end with `;` at the end of a line, with `{…}` for the engine's types (`migrate.ts`). One text
   * per engine where they share nothing.
   */
  readonly text: string | Readonly<Record<DialectName, string>>;
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
];

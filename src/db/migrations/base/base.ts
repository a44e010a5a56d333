import type { DialectName } from '../../sql.ts';
import { access } from './access.ts';
import { assistants } from './assistants.ts';
import { checkpoints } from './checkpoints.ts';
import { crons } from './crons.ts';
import { events } from './events.ts';
import { queue } from './queue.ts';
import { removedRuns } from './removed-runs.ts';
import { runs } from './runs.ts';
import { store } from './store.ts';
import { threads } from './threads.ts';
import { webhooks } from './webhooks.ts';

const PARTS = [
  assistants,
  threads,
  runs,
  removedRuns,
  queue,
  events,
  checkpoints,
  store,
  crons,
  webhooks,
  access,
];

const textFor = (dialect: DialectName) =>
  PARTS.map((part) => (typeof part === 'string' ? part : part[dialect])).join('');

/**
 * The schema of the first release. `{…}` names are the engine's types: SQLite stores ids, JSON and timestamps as text,
 * PostgreSQL in its native types. Documents that are only returned are `{json}` (text order preserved); searched ones
 * `{jsonb}`. Part of it may not change once it has been released.
 */
export const base: Record<DialectName, string> = { sqlite: textFor('sqlite'), postgres: textFor('postgres') };

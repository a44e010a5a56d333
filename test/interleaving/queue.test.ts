import { expect, test } from 'vitest';
import type { DialectName } from '../../src/db/sql.ts';
import { TEST_POSTGRES_URI } from '../support/databases.ts';
import { type Engine, openEngines } from './engines.ts';
import { type Exploration, explore, told } from './explore.ts';
import { MECHANISMS } from './mechanisms.ts';

/** `npm run interleavings` plays ten thousand from any seed. */
const SEED = 20_261_122;

async function explored(dialect: DialectName, options: Partial<Exploration>, connections = 1) {
  const engines: Engine[] = await openEngines(dialect, connections);
  try {
    return await explore({ engines, runs: 200, seed: SEED, shrink_ms: 10_000, ...options });
  } finally {
    for (const engine of engines) await engine[Symbol.asyncDispose]();
  }
}

test('no interleaving of the verbs of the queue breaks an invariant on SQLite', async () => {
  const { failure } = await explored('sqlite', { runs: 250 });
  if (failure) expect.fail(told(failure, 'sqlite'));
});

test.runIf(TEST_POSTGRES_URI)(
  'no interleaving of the verbs of the queue breaks an invariant on PostgreSQL',
  async () => {
    const { failure } = await explored('postgres', { runs: 200 }, 4);
    if (failure) expect.fail(told(failure, 'postgres'));
  },
);

test.for(['fresh-rows', 'log-closing', 'recovery-webhook', 'failure-count'])(
  'a queue without %s breaks an invariant, and does so again from the printed seed',
  async (name) => {
    const without = MECHANISMS[name];
    const { failure } = await explored('sqlite', { without, shrink_ms: 0 });
    const { failure: again } = await explored('sqlite', { ...failure, without, shrink_ms: 0 });
    expect(String(again?.error)).toContain('Violation');
    expect(String(again?.error)).toBe(String(failure?.error));
  },
);

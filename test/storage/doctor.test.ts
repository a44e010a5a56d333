import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { firstUuid6 } from '../../src/core/ids.ts';
import type { Db } from '../../src/db/db.ts';
import { raw } from '../../src/db/sql.ts';
import { openTarget } from '../../src/storage/copy/databases.ts';
import { type DoctorOptions, examine } from '../../src/storage/doctor/doctor.ts';
import { openStorage } from '../../src/storage/storage.ts';
import { type DatabasesByUrl, databasesByUrl, HAS_POSTGRES } from '../support/databases-by-url.ts';
import { testSealer } from '../support/encryption.ts';
import {
  aCheckpoint,
  aDelivery,
  aQueueRow,
  aRun,
  DOCTOR_RULES,
  IDS,
  inMinutes,
  insert,
  insertHealthyRows,
} from '../support/healthy-rows.ts';
import { rowsOf } from '../support/rows-of.ts';

interface Breakage {
  readonly does: string;
  readonly breaks: readonly string[];
  readonly says: RegExp;
  readonly level?: 'notice';
  /** Beside a server. */
  readonly served?: true;
  /** Tables whose rows the fix leaves otherwise than before the breakage; `undefined` if only a person can fix it. */
  readonly fix_leaves?: readonly string[];
}

const OTHER = IDS.other;
const AT_THREAD = `where thread_id = '${IDS.thread}'`;
const LOG = ['run_events', 'run_event_expiry'];

const BREAKAGES: readonly Breakage[] = [
  {
    does: 'a run that is not in the queue',
    breaks: [aRun(OTHER, 'running')],
    says: /will never end, for the queue does not have it/,
    fix_leaves: ['runs', 'threads', ...LOG],
  },
  {
    does: 'a queue entry without a run',
    breaks: [aQueueRow(OTHER, 'blocked', { not_before: inMinutes(60) })],
    says: /The queue has an entry for Run .* which does not exist/,
    fix_leaves: LOG,
  },
  {
    does: 'a run that waits behind none',
    breaks: [aRun(OTHER, 'pending'), aQueueRow(OTHER, 'blocked')],
    says: /waits for another run of its thread, and there is none/,
    fix_leaves: ['runs', 'run_queue'],
  },
  {
    does: 'a run whose worker is gone',
    breaks: [
      aRun(OTHER, 'running'),
      aQueueRow(OTHER, 'running', { worker_id: randomUUID(), lease_token: OTHER }),
    ],
    says: /counts as running, but its worker is gone/,
    served: true,
    fix_leaves: ['runs', 'run_queue'],
  },
  {
    does: 'a due run that free slots do not take',
    breaks: [aRun(OTHER, 'pending'), aQueueRow(OTHER, 'ready', { not_before: inMinutes(-5) })],
    says: /waits for over a minute although 4 slots are free/,
    served: true,
  },
  {
    does: 'a run that no server can decrypt',
    breaks: [aRun(OTHER, 'pending'), aQueueRow(OTHER, 'ready', { retry_reason: 'unreadable' })],
    says: /cannot be decrypted by the servers/,
  },
  {
    does: 'a thread that is busy without a run',
    breaks: [
      `delete from run_queue ${AT_THREAD}`,
      `delete from runs where run_id = '${IDS.scheduled}'`,
      `update threads set status = 'busy'`,
    ],
    says: /is stuck in a status without a run/,
    fix_leaves: ['run_queue', 'runs'],
  },
  {
    does: 'a thread that is interrupted at no checkpoint',
    breaks: [
      `delete from run_queue ${AT_THREAD}`,
      `delete from runs where run_id = '${IDS.scheduled}'`,
      `update threads set status = 'interrupted'`,
    ],
    says: /nothing waits there for an answer/,
    fix_leaves: ['run_queue', 'runs'],
  },
  {
    does: 'a thread whose question its newest checkpoint does not ask',
    breaks: [
      `delete from run_queue ${AT_THREAD}`,
      `delete from runs where run_id = '${IDS.scheduled}'`,
      aCheckpoint(IDS.thread, 'c'),
      `update threads set status = 'interrupted', interrupts = '{"t":[{"value":"really?"}]}'`,
    ],
    says: /nothing waits there for an answer/,
    fix_leaves: ['run_queue', 'runs', 'checkpoints'],
  },
  {
    does: 'a log that never expires',
    breaks: [insert('run_events', { run_id: OTHER, seq: 1, event: 'values', data: '{}' })],
    says: /run_events has 1 row of the log of a run that has ended/,
    fix_leaves: [],
  },
  {
    does: 'checkpoint positions that never expire',
    breaks: [insert('run_checkpoints', { run_id: OTHER, checkpoint_id: 'c', seq: 1 })],
    says: /run_checkpoints has 1 row/,
    fix_leaves: [],
  },
  {
    does: 'the log of a thread that is gone',
    breaks: [insert('thread_log', { thread_id: OTHER, base: 0, run_id: OTHER, length: 1 })],
    says: /thread_log has 1 row of a thread that does not exist/,
    fix_leaves: [],
  },
  {
    does: 'values of no checkpoint',
    breaks: [
      insert('checkpoint_blobs', {
        thread_id: 't',
        ns: '',
        channel: 'c',
        version: '1',
        appends: 0,
        type: 'json',
        value: 'BYTES',
      }),
    ],
    says: /checkpoint_blobs has 1 row of a thread without checkpoints/,
    fix_leaves: [],
  },
  {
    does: 'a cron with a date that is not of its schedule',
    breaks: [`update crons set next_run_date = '2099-06-15T12:34:00.000Z'`],
    says: /has a wrong next date \(2099-06-15T12:34:00\.000Z instead of \d{4}-01-01T00:00:00\.000Z\)/,
    fix_leaves: [],
  },
  {
    does: 'an active cron without a date',
    breaks: ['update crons set next_run_date = null'],
    says: /has a wrong next date \(none instead of/,
    fix_leaves: [],
  },
  {
    does: 'a cron that nobody fires',
    breaks: [`update crons set next_run_date = '2020-01-01T00:00:00.000Z'`],
    says: /1 cron did not fire when due/,
    served: true,
  },
  {
    does: 'a cron that the server disabled',
    breaks: [`update crons set enabled = 0, next_run_date = null, disabled_reason = 'no such assistant'`],
    says: /1 cron cannot create runs and is disabled/,
    level: 'notice',
  },
  {
    does: 'a delivery that waits for ever',
    breaks: [`update webhook_outbox set next_at = '2099-01-01T00:00:00.000Z'`],
    says: /waits for longer than deliveries are retried/,
    fix_leaves: ['webhook_outbox'],
  },
  {
    does: 'a delivery that nobody sends',
    breaks: [`update webhook_outbox set next_at = '2020-01-01T00:00:00.000Z'`],
    says: /1 delivery waits for over ten minutes and no server sends it/,
    served: true,
  },
  {
    does: 'a dead letter',
    breaks: [aDelivery(OTHER, 'dead', inMinutes(-1))],
    says: /1 delivery failed for good/,
    level: 'notice',
  },
  {
    does: 'a key in use that expires',
    breaks: [
      insert('api_keys', {
        key_id: OTHER,
        name: 'ci',
        digest: 'd',
        scope: 'run',
        created_at: inMinutes(-9),
        expires_at: inMinutes(60),
        last_used_at: inMinutes(-1),
      }),
    ],
    says: /\(ci\) is in use and expires at/,
    level: 'notice',
  },
  {
    does: 'a thread whose newest checkpoint was made by a clock that is ahead',
    breaks: [
      aCheckpoint(IDS.thread, firstUuid6(Date.parse('2020-01-01'))),
      aCheckpoint(IDS.thread, firstUuid6(Date.parse('2099-01-01'))),
      // The ids of others say no time, or one that has passed.
      aCheckpoint(IDS.other, 'z'),
      aCheckpoint(IDS.run, firstUuid6(Date.parse('2020-01-01'))),
    ],
    says: new RegExp(`^Thread ${IDS.thread} has a checkpoint that was made by a clock that is ahead`),
  },
  {
    does: 'a missing index',
    breaks: ['drop index runs_thread'],
    says: /runs_thread is missing/,
    fix_leaves: [],
  },
];

describe.runIf(HAS_POSTGRES)('the doctor', () => {
  let places: DatabasesByUrl;
  beforeAll(async () => {
    places = await databasesByUrl();
  });
  afterAll(() => places[Symbol.asyncDispose]());

  const look = (url: string, more: Partial<DoctorOptions> = {}) =>
    examine({ url, ...DOCTOR_RULES, ...more }, { fix: false });
  const mend = (url: string) => examine({ url, ...DOCTOR_RULES }, { fix: true });

  async function healthy(engine: 'sqlite' | 'postgres'): Promise<string> {
    const url = engine === 'sqlite' ? places.sqlite() : await places.postgres();
    await withDb(url, insertHealthyRows);
    return url;
  }

  async function withDb(url: string, use: (db: Db) => Promise<unknown>): Promise<void> {
    await using db = await openTarget(url);
    await use(db);
  }

  async function execute(db: Db, statements: readonly string[]): Promise<void> {
    for (const statement of statements) {
      const bytes = db.dialect === 'sqlite' ? `x'00'` : `'\\x00'::bytea`;
      await db.run(raw(statement.replace(`'BYTES'`, bytes)));
    }
  }

  /** A process that uses the database and has 4 free slots. */
  async function serving(url: string): Promise<AsyncDisposable> {
    const storage = await openStorage({ url, synchronous: 'full' });
    const worker = { worker_id: randomUUID(), host: 'here', pid: 1, version: '1', slots: 4 };
    await storage.queue.heartbeat(worker, 60_000);
    return storage;
  }

  describe.each(['sqlite', 'postgres'] as const)('on %s', (engine) => {
    test('finds nothing in a healthy database, and nothing to mend', async () => {
      const url = await healthy(engine);
      const before = await rowsOf(url);
      expect(await look(url)).toEqual({ findings: [], fixed: [] });
      expect(await mend(url)).toEqual({ findings: [], fixed: [] });
      expect(await rowsOf(url)).toEqual(before);
    });

    test.each(BREAKAGES)('finds $does, and mends only that', async (breakage) => {
      const url = await healthy(engine);
      const before = await rowsOf(url);
      await withDb(url, (db) => execute(db, breakage.breaks));
      await using _server = breakage.served ? await serving(url) : undefined;

      const { findings } = await look(url);
      const found = findings.filter(({ message }) => breakage.says.test(message));
      expect(found, JSON.stringify(findings)).toHaveLength(1);
      expect(found[0]).toMatchObject({ level: breakage.level ?? 'problem' });
      expect(found[0]?.fix !== undefined).toBe(breakage.fix_leaves !== undefined);
      if (!breakage.fix_leaves) return;

      const { findings: left, fixed } = await mend(url);
      expect(left).toEqual([]);
      expect(fixed.map(({ message }) => message)).toContain(found[0]?.message);
      const after = await rowsOf(url);
      const changed = Object.keys(after).filter(
        (table) => table !== 'workers' && String(after[table]) !== String(before[table]),
      );
      expect(changed.filter((table) => !breakage.fix_leaves?.includes(table))).toEqual([]);
    });

    test('leaves a delivery alone for as long as its receiver asked to wait, and one that is being sent', async () => {
      const url = await healthy(engine);
      const nothing = { findings: [], fixed: [] };
      await withDb(url, (db) => execute(db, [`update webhook_outbox set next_at = '${inMinutes(23 * 60)}'`]));
      expect(await mend(url)).toEqual(nothing);
      const claim = `update webhook_outbox set token = '${OTHER}', next_at = '2099-01-01T00:00:00.000Z'`;
      await withDb(url, (db) => execute(db, [claim]));
      expect(await mend(url)).toEqual(nothing);
    });

    test('reports a clock that is not that of the database', async () => {
      const url = await healthy(engine);
      const clock = { ...systemClock, now: () => Date.now() + 3_600_000 };
      const { findings } = await look(url, { clock });
      expect(findings.map(({ message }) => message)).toEqual([
        expect.stringMatching(
          /^The clock of this machine is 3(5\d\d\.\d|600\.0) s ahead of that of the database: let NTP set both\.$/,
        ),
      ]);
    });

    test('examines nothing else in a database of another version', async () => {
      const url = await healthy(engine);
      await withDb(url, (db) =>
        execute(db, ['delete from schema_migrations where version > 12', 'drop table api_keys']),
      );
      expect((await look(url)).findings.map(({ message }) => message)).toEqual([
        expect.stringMatching(
          /^The database is at schema version 12, and this program at \d+: make a backup/,
        ),
      ]);
    });

    test('says that a database is empty, and which key it lacks', async () => {
      const url = engine === 'sqlite' ? places.sqlite() : await places.postgres();
      if (engine === 'sqlite')
        expect((await look(url)).findings[0]?.message).toMatch(/^There is no database /);
      else expect((await look(url)).findings[0]?.message).toMatch(/^The database is empty/);
      await (await openStorage({ url, synchronous: 'full', encryptor: testSealer() }))[Symbol.asyncDispose]();
      expect((await look(url)).findings[0]?.message).toMatch(/no key is configured/);
      expect(await look(url, { encryptor: testSealer() })).toEqual({ findings: [], fixed: [] });
    });
  });
});

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import type { Db } from '../../../src/db/db.ts';
import { raw } from '../../../src/db/sql.ts';
import { openTarget } from '../../../src/extensions/operations/copy/databases.ts';
import { type DoctorOptions, examine } from '../../../src/extensions/operations/doctor/doctor.ts';
import { openStorage } from '../../../src/storage/storage.ts';
import { BREAKAGES } from '../../support/breakages.ts';
import { type DatabasesByUrl, databasesByUrl, HAS_POSTGRES } from '../../support/databases-by-url.ts';
import { testSealer } from '../../support/encryption.ts';
import { DOCTOR_RULES, IDS, inMinutes, insertHealthyRows } from '../../support/healthy-rows.ts';
import { naming } from '../../support/naming.ts';
import { rowsOf } from '../../support/rows-of.ts';

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
    test('finds nothing to report or fix in a healthy database', async () => {
      const url = await healthy(engine);
      const before = await rowsOf(url);
      expect(await look(url)).toEqual({ findings: [], fixed: [] });
      expect(await mend(url)).toEqual({ findings: [], fixed: [] });
      expect(await rowsOf(url)).toEqual(before);
    });

    test.each(BREAKAGES)('finds $does, and fixes only that', async (breakage) => {
      const url = await healthy(engine);
      const before = await rowsOf(url);
      await withDb(url, (db) => execute(db, breakage.breaks()));
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

    test('ignores a delivery that waits for Retry-After, and one that is being sent', async () => {
      const url = await healthy(engine);
      const nothing = { findings: [], fixed: [] };
      await withDb(url, (db) => execute(db, [`update webhook_outbox set next_at = '${inMinutes(23 * 60)}'`]));
      expect(await mend(url)).toEqual(nothing);
      const claim = `update webhook_outbox set token = '${IDS.other}', next_at = '2099-01-01T00:00:00.000Z'`;
      await withDb(url, (db) => execute(db, [claim]));
      expect(await mend(url)).toEqual(nothing);
    });

    test('reports a clock that differs from that of the database', async () => {
      const url = await healthy(engine);
      const clock = { ...systemClock, now: () => Date.now() + 3_600_000 };
      const { findings } = await look(url, { clock });
      expect(findings.map(({ message }) => message)).toEqual([
        expect.stringMatching(/clock .* 3(5\d\d\.\d|600\.0) s ahead .*NTP/),
      ]);
    });

    test('reports only the version of a database with another schema version', async () => {
      const url = await healthy(engine);
      await withDb(url, (db) =>
        execute(db, ['update schema_migrations set version = 12', 'drop table api_keys']),
      );
      expect((await look(url)).findings.map(({ message }) => message)).toEqual([
        naming('version 12', 'backup'),
      ]);
    });

    test('reports an empty database, and a missing encryption key', async () => {
      const url = engine === 'sqlite' ? places.sqlite() : await places.postgres();
      if (engine === 'sqlite') expect((await look(url)).findings[0]?.message).toEqual(naming('no database'));
      else expect((await look(url)).findings[0]?.message).toEqual(naming('empty'));
      await (await openStorage({ url, synchronous: 'full', encryptor: testSealer() }))[Symbol.asyncDispose]();
      expect((await look(url)).findings[0]?.message).toEqual(naming('LANGGRAPH_AES_KEY'));
      expect(await look(url, { encryptor: testSealer() })).toEqual({ findings: [], fixed: [] });
    });
  });
});

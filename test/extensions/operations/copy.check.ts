import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { OWNED_DATA } from '../../../src/app/extensions.ts';
import { number } from '../../../src/db/columns.ts';
import { raw, sql } from '../../../src/db/sql.ts';
import { type CopyOptions, copyDatabase } from '../../../src/extensions/operations/copy/copy.ts';
import { openTarget } from '../../../src/extensions/operations/copy/databases.ts';
import { sideOf } from '../../../src/extensions/operations/copy/side.ts';
import { copiedTables } from '../../../src/extensions/operations/copy/tables.ts';
import { openStorage } from '../../../src/storage/storage.ts';
import { HAS_POSTGRES } from '../../support/databases-by-url.ts';
import { testSealer } from '../../support/encryption.ts';
import { fillEveryTable, useDatabases } from '../../support/every-row.ts';
import { failure } from '../../support/naming.ts';
import { rowsOf } from '../../support/rows-of.ts';
import { columnsOf, commonColumns } from '../../support/table-types.ts';

/** What only one engine has, each a projection of the rest that the copy makes anew. */
const DERIVED = {
  sqlite: [
    'assistants.name_order',
    'assistants.row_id',
    'assistants_metadata_terms',
    'sqlite_sequence',
    'store_words',
    'store_words_config',
    'store_words_data',
    'store_words_docsize',
    'store_words_idx',
    'threads.row_id',
    'threads_metadata_terms',
    'threads_values_summary_terms',
  ],
  postgres: ['store_items.words'],
};

describe.runIf(HAS_POSTGRES)('a copy of a database', () => {
  const places = useDatabases();

  async function filled(url: string, rows?: number): Promise<string> {
    await using db = await openTarget(url, { owned: OWNED_DATA });
    await fillEveryTable(db, places.empty, rows);
    return url;
  }

  test('has every column of every table that both engines have', async () => {
    const [sqlite, postgres] = [await columnsOf(places.empty.sqlite), await columnsOf(places.empty.postgres)];
    const common = commonColumns(sqlite, postgres)
      .map((column) => `${column.postgres.table}.${column.postgres.name}`)
      .filter((name) => !/_migrations\./.test(name));
    const tables = copiedTables(
      (await sideOf(places.empty.sqlite)).schema,
      (await sideOf(places.empty.postgres)).schema,
    );
    const copied = tables.flatMap((table) => table.columns.map(({ name }) => `${table.name}.${name}`));

    expect(copied.sort()).toEqual(common.sort());
    expect(tables.filter(({ key }) => key.length === 0)).toEqual([]);
    const others = (columns: typeof sqlite) => {
      const names = columns.map(({ table, name }) =>
        tables.some((each) => each.name === table) ? `${table}.${name}` : table,
      );
      return [...new Set(names)]
        .filter((name) => !copied.includes(name) && !name.endsWith('_migrations'))
        .sort();
    };
    expect({ sqlite: others(sqlite), postgres: others(postgres) }).toEqual(DERIVED);
  });

  test('from SQLite to PostgreSQL and back is equal row by row', async () => {
    const from = await filled(places.sqlite());
    const [there, back] = [await places.postgres(), places.sqlite()];
    const before = await rowsOf(from);
    expect(Object.entries(before).filter(([, rows]) => rows.length === 0)).toEqual([]);

    const copied = await copyDatabase({ owned: OWNED_DATA, from, to: there });
    expect(copied).toBe(Object.values(before).flat().length);
    expect(await rowsOf(there)).toEqual(before);

    expect(await copyDatabase({ owned: OWNED_DATA, from: there, to: back })).toBe(copied);
    expect(await rowsOf(back)).toEqual(before);
  });

  test('from PostgreSQL to SQLite and back is equal row by row, as is one to another PostgreSQL', async () => {
    const from = await filled(await places.postgres());
    const [there, back] = [places.sqlite(), await places.postgres()];
    const before = await rowsOf(from);

    await copyDatabase({ owned: OWNED_DATA, from, to: there });
    await copyDatabase({ owned: OWNED_DATA, from: there, to: back });
    expect(await rowsOf(back)).toEqual(before);
    const other = await places.postgres();
    await copyDatabase({ owned: OWNED_DATA, from, to: other });
    expect(await rowsOf(other)).toEqual(before);
  });

  test('from SQLite to another SQLite is equal row by row, with the rows that triggers derive', async () => {
    const from = await filled(places.sqlite());
    const to = places.sqlite();
    await copyDatabase({ owned: OWNED_DATA, from, to });
    expect(await rowsOf(to)).toEqual(await rowsOf(from));
    const terms = async (url: string) => {
      await using db = await openTarget(url, { owned: OWNED_DATA });
      const query = sql`select ${number('count')} from (select count(*) as count from threads_metadata_terms) t`;
      return (await db.get(query))?.count;
    };
    expect(await terms(from)).toBeGreaterThan(0);
    expect(await terms(to)).toBe(await terms(from));
  });

  test.each(['sqlite', 'postgres'] as const)(
    'on %s numbers new rows after those of the source',
    async (to) => {
      const from = await filled(to === 'sqlite' ? await places.postgres() : places.sqlite());
      {
        await using source = await openTarget(from, { owned: OWNED_DATA });
        await source.run(raw('delete from webhook_outbox where seq > 3'));
      }
      const url = to === 'sqlite' ? places.sqlite() : await places.postgres();
      await copyDatabase({ owned: OWNED_DATA, from, to: url });
      await using db = await openTarget(url, { owned: OWNED_DATA });
      const added = sql`insert into run_queue (run_id, thread_id, state, not_before)
      values ('00000000-0000-4000-a000-000000000001', '00000000-0000-4000-a000-000000000002', 'blocked', '2026-01-01T00:00:00Z')
      returning ${number('seq')}`;
      const row = await db.transaction('sync', (tx) => tx.get(added));
      expect(row?.seq).toBe(13);
    },
  );

  test.each([
    ['plain', undefined],
    ['encrypted', testSealer()],
  ])('has %s items of the store that can be found by their words', async (_, encryptor) => {
    const [from, there, back] = [places.sqlite(), await places.postgres(), places.sqlite()];
    const open = (url: string) => openStorage({ owned: OWNED_DATA, url, synchronous: 'normal', encryptor });
    {
      await using storage = await open(from);
      const write = { namespace: ['birds'], ttl_minutes: null, index_rule: null };
      await storage.storeItems.apply([
        { ...write, key: 'macaw', value: { text: 'A blue parrot says Grüß Gott' } },
        { ...write, key: 'wren', value: { text: 'A small brown bird', n: [1, { b: 2, a: 1 }] } },
      ]);
    }
    await copyDatabase({ owned: OWNED_DATA, from, to: there, encryptor });
    await copyDatabase({ owned: OWNED_DATA, from: there, to: back, encryptor });
    for (const url of [there, back]) {
      await using storage = await open(url);
      const scope = { namespace_prefix: ['birds'], conditions: [], limit: 10, offset: 0 };
      expect((await storage.storeItems.search(scope, 'grüß', false)).map(({ key }) => key)).toEqual([
        'macaw',
      ]);
      expect(await storage.storeItems.get({ namespace: ['birds'], key: 'wren' }, false)).toMatchObject({
        value: { text: 'A small brown bird', n: [1, { b: 2, a: 1 }] },
      });
    }
    if (!encryptor) return;
    expect(await rowsOf(back)).toEqual(await rowsOf(from));
    await expect(copyDatabase({ owned: OWNED_DATA, from, to: places.sqlite() })).rejects.toThrow(
      failure(Error, 'LANGGRAPH_AES_KEY'),
    );
  });

  /** Fails after this many batches, as a process that is killed. */
  function interrupted(options: CopyOptions, batches: number): Promise<number> {
    let left = batches;
    const onBatch = () => {
      if (--left === 0) throw new Error('killed');
    };
    return copyDatabase({ owned: OWNED_DATA, ...options, report: { onBatch } });
  }

  test('continues after the last batch of an interrupted copy', async () => {
    const from = await filled(places.sqlite(), 520);
    const to = await places.postgres();
    await expect(interrupted({ from, to }, 3)).rejects.toThrow('killed');
    await expect(openStorage({ owned: OWNED_DATA, url: to, synchronous: 'full' })).rejects.toThrow(
      'unfinished copy',
    );
    await expect(interrupted({ from, to }, 20)).rejects.toThrow('killed');

    const resumed: number[] = [];
    let batches = 0;
    await copyDatabase({
      owned: OWNED_DATA,
      from,
      to,
      report: { onResume: (rows) => resumed.push(rows), onBatch: () => batches++ },
    });
    expect(resumed[0]).toBeGreaterThan(3000);
    expect(batches).toBeGreaterThan(10);
    expect(await rowsOf(to)).toEqual(await rowsOf(from));
    await using _served = await openStorage({ owned: OWNED_DATA, url: to, synchronous: 'full' });
  });

  test('detects a row of the source that changed after it was copied, and restarts on request', async () => {
    const from = await filled(places.sqlite());
    const to = await places.postgres();
    await expect(interrupted({ from, to }, 20)).rejects.toThrow('killed');
    {
      await using db = await openTarget(from, { owned: OWNED_DATA });
      await db.run(raw("update api_keys set name = 'changed'"));
    }
    await expect(copyDatabase({ owned: OWNED_DATA, from, to })).rejects.toThrow(
      failure(Error, 'api_keys', '--restart'),
    );
    await copyDatabase({ owned: OWNED_DATA, from, to, restart: true });
    expect(await rowsOf(to)).toEqual(await rowsOf(from));
  });

  test('requires an empty target, and continues only a copy of the same source', async () => {
    const [from, other] = [await filled(places.sqlite()), await filled(places.sqlite())];
    const to = await places.postgres();
    await expect(copyDatabase({ owned: OWNED_DATA, from: other, to: from })).rejects.toThrow(
      failure(Error, 'not empty'),
    );
    await expect(copyDatabase({ owned: OWNED_DATA, from, to: from })).rejects.toThrow(
      failure(Error, 'same database'),
    );
    await expect(interrupted({ from, to }, 2)).rejects.toThrow('killed');
    await expect(copyDatabase({ owned: OWNED_DATA, from: other, to })).rejects.toThrow('unfinished copy');
  });

  test('does not touch a source that is missing, empty, or of another version', async () => {
    const missing = places.sqlite('missing');
    await expect(copyDatabase({ owned: OWNED_DATA, from: missing, to: places.sqlite() })).rejects.toThrow(
      failure(Error, 'no database'),
    );
    await expect(
      copyDatabase({ owned: OWNED_DATA, from: await places.postgres(), to: places.sqlite() }),
    ).rejects.toThrow('no tables');
    const old = await filled(places.sqlite());
    {
      await using db = await openTarget(old, { owned: OWNED_DATA });
      await db.run(raw('update schema_migrations set version = 12'));
    }
    await expect(copyDatabase({ owned: OWNED_DATA, from: old, to: await places.postgres() })).rejects.toThrow(
      failure(Error, 'version 12', 'agent-server migrate'),
    );
  });

  test.each(['sqlite', 'postgres'] as const)(
    'refuses a source on %s that a server uses, unless while_running is set',
    async (engine) => {
      const from = await filled(engine === 'sqlite' ? places.sqlite() : await places.postgres());
      const to = engine === 'sqlite' ? await places.postgres() : places.sqlite();
      await using server = await openStorage({ owned: OWNED_DATA, url: from, synchronous: 'full' });
      const worker = { worker_id: randomUUID(), host: 'here', pid: 1, version: '1', slots: 1 };
      await server.queue.heartbeat(worker, 20_000);
      await expect(copyDatabase({ owned: OWNED_DATA, from, to })).rejects.toThrow('--while-running');

      const before = await rowsOf(from);
      // Written while it is copied: not part of the moment.
      const writes: Promise<string>[] = [];
      const onBatch = () => void writes.push(server.secrets.getOrCreate(randomUUID(), 'later'));
      await copyDatabase({ owned: OWNED_DATA, from, to, while_running: true, report: { onBatch } });
      expect((await Promise.all(writes)).length).toBeGreaterThan(10);
      expect(await rowsOf(to)).toEqual(before);
    },
  );
});

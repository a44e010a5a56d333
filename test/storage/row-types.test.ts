import { expect, expectTypeOf, test } from 'vitest';
import type { Rows } from '../../src/db/column-types.ts';
import { columns, flag, notNull, nullable, nulls, number, text } from '../../src/db/columns.ts';
import { parseJsonColumns } from '../../src/db/json.ts';
import { join, type RowOf, type Sql, sql } from '../../src/db/sql.ts';
import { describeEachDatabase } from '../support/databases.ts';

const SECRET = sql`insert into server_secrets (name, secret, created_at) values ('a', 'b', '2030-01-01T00:00:00.000Z')`;

describeEachDatabase('the rows of a statement', (open) => {
  test('have the types of the columns that its select list names', async () => {
    await using db = await open();
    await db.run(SECRET);

    const row = await db.get(sql`
      select ${columns('server_secrets', 's.name, s.secret as word')}, ${nullable(columns('workers', 'w.pid'))},
        count(*) as ${number('n')}, max(s.name) as ${nullable(text('last'))}, 1 = 1 as ${flag('sure')}
      from server_secrets s left join workers w on w.host = s.name group by s.name, s.secret, w.pid`);

    expect(row).toEqual({ name: 'a', word: 'b', pid: null, n: 1, last: 'a', sure: 1 });
    expectTypeOf(row).branded.toEqualTypeOf<
      | { name: string; word: string; pid: number | null; n: number; last: string | null; sure: 0 | 1 }
      | undefined
    >();
  });

  test('of a union are distinguished by a column', async () => {
    await using db = await open();
    const one = sql`select 'one' as ${text('kind', 'one')}, 1 as ${number('n')}, ${nulls('word')}`;
    const other = sql`select 'other' as ${text('kind', 'other')}, ${nulls('n')}, 'x' as ${text('word')}`;

    const rows = await db.all(join<RowOf<typeof one> | RowOf<typeof other>>([one, other], ' union all '));

    const shown = rows.map((row) => (row.kind === 'one' ? row.n.toFixed(1) : row.word.toUpperCase()));
    expect(shown.sort()).toEqual(['1.0', 'X']);
  });

  test('without typed columns cannot be read', async () => {
    await using db = await open();
    await db.run(SECRET);

    const row = await db.get(sql`select name from server_secrets`);

    expectTypeOf(row).toEqualTypeOf<unknown>();
    // @ts-expect-error The caller does not say what a statement returns.
    expect(await db.get<{ name: string }>(sql`select name from server_secrets`)).toEqual({ name: 'a' });
  });

  test.each<[string, Sql]>([
    ['a column too few', sql`select ${columns('server_secrets', 'name')}, secret from server_secrets`],
    ['another name', sql`select secret as ${text('name')}, name as other from server_secrets`],
    ['another type', sql`select name as ${number('name')} from server_secrets`],
    ['another text', sql`select name as ${text('name', 'b', 'c')} from server_secrets`],
    [
      'a null of a left join',
      sql`select ${columns('workers', 'w.pid')}
      from server_secrets s left join workers w on w.host = s.name`,
    ],
    [
      'a null that is excluded',
      sql`select ${notNull(columns('runs', 'r.error'))}
      from server_secrets s left join runs r on r.status = s.name`,
    ],
  ])('are refused in tests for %s', async (_, query) => {
    await using db = await open();
    await db.run(SECRET);

    await expect(db.all(query)).rejects.toThrow(/^(A row has|The type of)/);
  });
});

test('a column that its table does not have does not compile', () => {
  // @ts-expect-error It is `run_id`.
  columns('runs', 'status, id');
  // @ts-expect-error It is `runs`.
  columns('run', 'run_id');
});

test('a parsed JSON column has the type of its document', () => {
  const row: Pick<Rows['runs'], 'run_id' | 'metadata'> = { run_id: 'a', metadata: '{"b":1}' };

  const parsed = parseJsonColumns(row, ['metadata']);

  expect(parsed).toEqual({ run_id: 'a', metadata: { b: 1 } });
  expectTypeOf(parsed).branded.toEqualTypeOf<{ run_id: string; metadata: Record<string, unknown> }>();
});

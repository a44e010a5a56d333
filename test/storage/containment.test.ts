import { expect, test } from 'vitest';
import { toJson } from '../../src/core/json.ts';
import { number, text } from '../../src/db/columns.ts';
import type { Db } from '../../src/db/db.ts';
import { contains, isOneOf, mergeJson } from '../../src/db/json.ts';
import { raw, sql } from '../../src/db/sql.ts';
import { describeEachDatabase } from '../support/databases.ts';

const DOCUMENTS: unknown[] = [
  {},
  { a: 1 },
  { a: 1, b: 2 },
  { a: 1.5 },
  { a: null },
  { b: null, a: '1' },
  { a: true },
  { a: [] },
  { a: {} },
  { a: [1] },
  { a: [1, 2, 3] },
  { a: [[1, 2], [3]] },
  { a: [{ b: 1, c: 2 }, { d: null }] },
  { a: { b: { c: [1, { d: 'x' }], e: null } } },
  { 'a.b': 1, '': 0, $a: 'ü😀"\\' },
  JSON.parse('{"__proto__": {"polluted": true}, "constructor": 1}'),
  { a: 'NUL \0 and \ud800 alone' },
  { a: 1e20, b: 1e-7 },
  [],
  [1, 'x', null],
  [[1], { a: 1 }],
  'x',
  1,
  true,
  null,
];

const QUESTIONS: unknown[] = [
  ...DOCUMENTS,
  { a: 1.0 },
  { a: [3, 1] },
  { a: [1, 1, 1] },
  { a: [4] },
  { a: [[2]] },
  { a: [[1, 3]] },
  { a: [{ b: 1 }] },
  { a: [{ b: 1, d: null }] },
  { a: { b: {} } },
  { a: { b: { c: [{ d: 'x' }] } } },
  { toString: null },
  { __proto__: null, hasOwnProperty: 1 },
  [null],
  [[]],
  [{}],
  [['x']],
];

/** What `contains` says for every document, one line a question. */
async function answers(db: Db): Promise<string[]> {
  await db.run(raw(`create table documents (id integer primary key, document ${jsonType(db)})`));
  for (const [id, document] of DOCUMENTS.entries()) {
    await db.run(sql`insert into documents values (${id}, ${toJson(document)})`);
  }
  return Promise.all(
    QUESTIONS.map(async (question) => {
      const rows = await db.all(
        sql`select ${number('id')} from documents where ${contains('document', question)} order by id`,
      );
      return `${toJson(question)} is in ${rows.map((row) => toJson(DOCUMENTS[row.id])).join(' and in ')}`;
    }),
  );
}

function jsonType(db: Db): string {
  return db.dialect === 'sqlite' ? 'text' : 'jsonb';
}

const answered: string[][] = [];

describeEachDatabase('SQL expressions', (open) => {
  test('containment is decided for every kind of JSON', async () => {
    await using db = await open({ migrated: false });
    const lines = await answers(db);
    answered.push(lines);
    // PostgreSQL's rule decides; whoever comes second must agree with the first.
    expect(lines).toEqual(answered[0]);
    expect(lines).toContain('{"a":[3,1]} is in {"a":[1,2,3]}');
    expect(lines).toContain('{"a":null} is in {"a":null}');
    expect(lines).toContain('{"a":[1,1,1]} is in {"a":[1]} and in {"a":[1,2,3]}');
    expect(lines).toContain('"x" is in [1,"x",null] and in "x"');
    expect(lines).toContain('{"toString":null} is in ');
  });

  test('merging JSON replaces keys, keeps others, and stores null', async () => {
    await using db = await open({ migrated: false });
    await db.run(raw(`create table documents (document ${jsonType(db)})`));
    await db.run(sql`insert into documents values (${toJson({ a: { x: 1 }, b: 1, c: null })})`);
    await db.run(
      sql`update documents set document = ${mergeJson('document', { a: { y: 2 }, b: null, 'd\0': [1] })}`,
    );
    const row = await db.get(sql`select ${text('document')} from documents`);
    expect(JSON.parse(row?.document as string)).toEqual({ a: { y: 2 }, b: null, c: null, 'd\uFFFD': [1] });
  });

  test('a query may name very many ids', async () => {
    await using db = await open();
    const ids = Array.from(
      { length: 70_000 },
      (_, n) => `00000000-0000-0000-0000-${String(n).padStart(12, '0')}`,
    );
    expect(await db.all(sql`select thread_id from threads where ${isOneOf('thread_id', ids)}`)).toEqual([]);
    expect(await db.all(sql`select thread_id from threads where ${isOneOf('thread_id', [])}`)).toEqual([]);
  });
});

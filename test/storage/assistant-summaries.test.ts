import { expect, test } from 'vitest';
import type { Db } from '../../src/db/db.ts';
import type { Assistant } from '../../src/schemas/assistants.ts';
import { assistantRepository } from '../../src/storage/assistants/assistants.ts';
import { insertAssistant } from '../../src/storage/assistants/row.ts';
import { describeEachDatabase } from '../support/databases.ts';
import { failure } from '../support/naming.ts';
import { at, threadId } from '../support/stored-threads.ts';

const TEXT = 'x'.repeat(10_000);
/** Less than three texts, more than two. */
const MAX_BYTES = 29_000;

function assistant(n: number, given: Partial<Assistant> = {}): Assistant {
  return {
    assistant_id: threadId(n),
    graph_id: 'echo',
    name: `assistant ${n}`,
    description: null,
    config: {},
    context: {},
    metadata: {},
    version: 1,
    created_at: at(n),
    updated_at: at(n),
    ...given,
  };
}

async function insert(db: Db, assistants: readonly Assistant[]): Promise<void> {
  await db.transaction('async', async (tx) => {
    for (const each of assistants) await tx.run(insertAssistant(tx.cipher, each));
  });
}

const all = [1, 2, 3];

describeEachDatabase('the summaries of assistants', (open) => {
  test('have the fields for tool names of visible assistants, oldest first', async () => {
    await using db = await open();
    const mcp = { name: 'tool', expose: false };
    const described = { description: 'Answers.', metadata: { owner: 'ann', mcp, more: TEXT } };
    await insert(db, [assistant(2), assistant(1, described)]);
    const { summaries } = assistantRepository(db);
    const { list, bytes } = await summaries();
    const { context: _, config: _config, updated_at: _updated, ...first } = assistant(1, described);
    expect(list.map(({ assistant_id }) => assistant_id)).toEqual([threadId(1), threadId(2)]);
    expect(list[0]).toEqual({ ...first, metadata: { mcp } });
    expect(list[1]?.metadata).toEqual({});
    expect(bytes).toBeLessThan(200);
    const own = { metadata: { contains: { owner: 'ann' } } };
    expect((await summaries(own)).list).toEqual([list[0]]);
  });

  test('are read without the other, large columns', async () => {
    await using db = await open();
    const large = { context: { TEXT }, config: { TEXT }, metadata: { TEXT } };
    await insert(
      db,
      all.map((n) => assistant(n, large)),
    );
    expect((await assistantRepository(db).summaries(undefined, MAX_BYTES)).list).toHaveLength(3);
  });

  test.each([
    ['names', { name: TEXT }],
    ['descriptions', { description: TEXT }],
    ['settings as tools', { metadata: { mcp: { description: TEXT } } }],
  ])('are refused if they are too large themselves: %s', async (_, large) => {
    await using db = await open();
    await insert(
      db,
      all.map((n) => assistant(n, large)),
    );
    const { summaries } = assistantRepository(db);
    await expect(summaries(undefined, MAX_BYTES)).rejects.toThrow(failure(Error, 'metadata.mcp'));
    expect((await summaries()).list).toHaveLength(3);
  });

  test('are limited over all pages', async () => {
    await using db = await open();
    await insert(
      db,
      Array.from({ length: 1003 }, (_, n) => assistant(n + 1, { name: 'x'.repeat(100) })),
    );
    const { summaries } = assistantRepository(db);
    const { list, bytes } = await summaries();
    expect([list.length, bytes]).toEqual([1003, 100_300]);
    expect((await summaries(undefined, bytes)).list).toHaveLength(1003);
    await expect(summaries(undefined, bytes - 1)).rejects.toThrow('more than 100299 bytes');
  });
});

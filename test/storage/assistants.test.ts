import { expect, test } from 'vitest';
import { systemAssistantId } from '../../src/core/ids.ts';
import { type Assistant, AssistantSearch } from '../../src/schemas/assistants.ts';
import { CronSearch } from '../../src/schemas/crons.ts';
import { type AssistantRepository, assistantRepository } from '../../src/storage/assistants/assistants.ts';
import { cronRepository } from '../../src/storage/crons/crons.ts';
import { describeEachStorage } from '../support/databases.ts';
import { storedCron } from '../support/stored-crons.ts';

function id(n: number): string {
  return `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
}

function at(second: number): string {
  return new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();
}

function assistant(n: number, fields: Partial<Assistant> = {}): Assistant {
  return {
    assistant_id: id(n),
    graph_id: 'echo',
    name: 'Untitled',
    description: null,
    config: {},
    context: {},
    metadata: {},
    version: 1,
    created_at: at(n),
    updated_at: at(n),
    ...fields,
  };
}

async function found(assistants: AssistantRepository, query: object): Promise<string[]> {
  return (await assistants.search(AssistantSearch.parse(query))).map((row) => row.name);
}

describeEachStorage('assistants', (open) => {
  test('are read as they were stored', async () => {
    await using db = await open();
    const assistants = assistantRepository(db);
    const stored = assistant(1, {
      description: 'Ünïcode 😀',
      config: { tags: ['b', 'a'], configurable: { model: 'x' } },
      context: { model: 'x' },
      metadata: { owner: { team: 'a' } },
    });
    expect(await assistants.insert(stored)).toBe(true);
    expect(await assistants.get(id(1))).toEqual(stored);
    expect(await assistants.get(id(2))).toBeUndefined();
  });

  test('creating an assistant with an existing id leaves that assistant unchanged', async () => {
    await using db = await open();
    const assistants = assistantRepository(db);
    await assistants.insert(assistant(1, { name: 'first' }));
    expect(await assistants.insert(assistant(1, { name: 'second' }))).toBe(false);
    expect((await assistants.get(id(1)))?.name).toBe('first');
    expect(await assistants.versions(id(1), { limit: 10, offset: 0 })).toHaveLength(1);
  });

  test('are found by graph, metadata and a part of the name', async () => {
    await using db = await open();
    const assistants = assistantRepository(db);
    await assistants.insert(assistant(1, { name: '100% Ümlaut', metadata: { tags: ['x', 'y'], n: 1 } }));
    await assistants.insert(assistant(2, { name: '100 percent', graph_id: 'other' }));
    await assistants.insert(assistant(3, { name: 'snake_case' }));
    expect(await found(assistants, { graph_id: 'other' })).toEqual(['100 percent']);
    expect(await found(assistants, { metadata: { tags: ['y'], n: 1.0 } })).toEqual(['100% Ümlaut']);
    expect(await found(assistants, { name: '100%' })).toEqual(['100% Ümlaut']);
    expect(await found(assistants, { name: 'üMLAUT' })).toEqual(['100% Ümlaut']);
    expect(await found(assistants, { name: 'e_c' })).toEqual(['snake_case']);
    expect(await found(assistants, { name: '_' })).toEqual(['snake_case']);
    expect(await found(assistants, { name: '%'.repeat(1024) })).toEqual([]);
    expect(await assistants.count({ name: '100' })).toBe(2);
    expect(await assistants.count({})).toBe(3);
  });

  test('are sorted, by name without regard to case, and paged without gaps', async () => {
    await using db = await open();
    const assistants = assistantRepository(db);
    for (const [n, name] of ['b', 'C', 'A', 'd'].entries()) {
      await assistants.insert(assistant(n, { name, created_at: at(0), updated_at: at(9 - n) }));
    }
    expect(await found(assistants, { sort_by: 'name', sort_order: 'asc' })).toEqual(['A', 'b', 'C', 'd']);
    expect(await found(assistants, { sort_by: 'updated_at', sort_order: 'asc' })).toEqual([
      'd',
      'A',
      'C',
      'b',
    ]);
    // Equal in what they are sorted by: the id decides.
    expect(await found(assistants, {})).toEqual(['d', 'A', 'C', 'b']);
    expect(await found(assistants, { limit: 2 })).toEqual(['d', 'A']);
    expect(await found(assistants, { limit: 2, offset: 2 })).toEqual(['C', 'b']);
    expect(await found(assistants, { offset: 50 })).toEqual([]);
  });

  test('an update replaces configuration, merges metadata, and is a new version', async () => {
    await using db = await open();
    const assistants = assistantRepository(db);
    await assistants.insert(assistant(1, { config: { tags: ['a'] }, metadata: { a: { x: 1 }, b: 1 } }));
    const updated = await assistants.update(
      id(1),
      () => ({ name: 'new', config: { recursion_limit: 5 }, metadata: { a: { y: 2 }, b: null } }),
      at(5),
    );
    expect(updated).toEqual(
      assistant(1, {
        name: 'new',
        config: { recursion_limit: 5 },
        metadata: { a: { y: 2 }, b: null },
        version: 2,
        updated_at: at(5),
      }),
    );
    expect((await assistants.update(id(1), () => ({}), at(6)))?.version).toBe(3);
    expect(await assistants.update(id(2), () => ({ name: 'x' }), at(6))).toBeUndefined();
  });

  test('concurrent updates create separate versions', async () => {
    await using db = await open();
    const assistants = assistantRepository(db);
    await assistants.insert(assistant(1));
    const updates = await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        assistants.update(id(1), () => ({ metadata: { [n]: true } }), at(n)),
      ),
    );
    expect(updates.map((row) => row?.version).sort()).toEqual([2, 3, 4, 5, 6, 7, 8, 9]);
    expect(Object.keys((await assistants.get(id(1)))?.metadata ?? {})).toHaveLength(8);
  });

  test('an update applies to the row as it is under the lock', async () => {
    await using db = await open();
    const assistants = assistantRepository(db);
    await assistants.insert(assistant(1, { context: { count: 0 } }));
    const count = ({ context }: Assistant) => ({ context: { count: Number(context['count']) + 1 } });
    await Promise.all(Array.from({ length: 8 }, (_, n) => assistants.update(id(1), count, at(n))));
    expect((await assistants.get(id(1)))?.context).toEqual({ count: 8 });

    const refuse = () => {
      throw new Error('refused');
    };
    await expect(assistants.update(id(1), refuse, at(9))).rejects.toThrow('refused');
    expect(await assistants.get(id(1))).toMatchObject({ version: 9, context: { count: 8 } });
  });

  test('versions are listed newest first, and any of them can be made current with all its fields', async () => {
    await using db = await open();
    const assistants = assistantRepository(db);
    const first = assistant(1, { name: 'one', context: { a: 1 }, metadata: { v: 1 } });
    await assistants.insert(first);
    await assistants.update(
      id(1),
      () => ({ graph_id: 'other', name: 'two', context: { a: 2 }, metadata: { v: 2 } }),
      at(2),
    );
    const versions = await assistants.versions(id(1), { limit: 10, offset: 0 });
    expect(versions.map((version) => [version.version, version.name])).toEqual([
      [2, 'two'],
      [1, 'one'],
    ]);
    expect(versions[1]).not.toHaveProperty('updated_at');
    expect(await assistants.versions(id(1), { limit: 1, offset: 1 })).toEqual([versions[1]]);
    expect(await assistants.versions(id(1), { limit: 10, offset: 0, metadata: { v: 1 } })).toEqual([
      versions[1],
    ]);

    expect(await assistants.setLatest(id(1), 1, at(3))).toEqual({ ...first, updated_at: at(3) });
    expect(await assistants.setLatest(id(1), 3, at(4))).toBeUndefined();
    expect((await assistants.get(id(1)))?.version).toBe(1);
    // Counted on from the highest, not from the current one.
    expect((await assistants.update(id(1), () => ({}), at(5)))?.version).toBe(3);
  });

  test('deleting an assistant deletes its versions', async () => {
    await using db = await open();
    const assistants = assistantRepository(db);
    await assistants.insert(assistant(1));
    expect(await assistants.delete(id(1))).toBe(true);
    expect(await assistants.delete(id(1))).toBe(false);
    expect(await assistants.versions(id(1), { limit: 10, offset: 0 })).toEqual([]);
  });
});

describeEachStorage('system assistants', (open) => {
  const system = (graph_id: string, fields: Partial<Assistant> = {}) =>
    assistant(1, {
      assistant_id: systemAssistantId(graph_id),
      graph_id,
      name: graph_id,
      metadata: { created_by: 'system' },
      ...fields,
    });

  test('follow the names of the configuration and keep changes by clients', async () => {
    await using db = await open();
    const assistants = assistantRepository(db);
    await assistants.upsertSystemAssistants([system('echo')]);
    await assistants.update(systemAssistantId('echo'), () => ({ context: { a: 1 }, name: 'mine' }), at(2));
    await assistants.upsertSystemAssistants([
      system('echo', { description: 'Says it again' }),
      system('other'),
    ]);
    const echo = await assistants.get(systemAssistantId('echo'));
    expect(echo).toMatchObject({ name: 'echo', description: 'Says it again', context: { a: 1 }, version: 2 });
    const versions = await assistants.versions(systemAssistantId('echo'), { limit: 10, offset: 0 });
    expect(versions.map((version) => version.description)).toEqual(['Says it again', null]);
    expect(await assistants.count({})).toBe(2);
  });

  test('replace an assistant that a client created with their id before the graph existed', async () => {
    await using db = await open();
    const assistants = assistantRepository(db);
    const assistant_id = systemAssistantId('counter');
    for (const metadata of [{ owner: 'mallory' }, { created_by: 'system' }]) {
      await assistants.insert(assistant(1, { assistant_id, graph_id: 'echo', metadata }));
      await assistants.update(assistant_id, () => ({ config: { tags: ['evil'] } }), at(2));
      await assistants.upsertSystemAssistants([system('counter')]);
      expect(await assistants.get(assistant_id)).toEqual(system('counter'));
      expect(await assistants.versions(assistant_id, { limit: 10, offset: 0 })).toHaveLength(1);
      await assistants.delete(assistant_id);
    }
  });

  test('replace such an assistant together with its crons, and keep their own crons', async () => {
    await using db = await open();
    const assistants = assistantRepository(db);
    const assistant_id = systemAssistantId('counter');
    const crons = async () =>
      (await cronRepository(db).search(CronSearch.parse({}))).map((each) => each.cron_id);
    await assistants.insert(assistant(1, { assistant_id, graph_id: 'echo' }));
    await cronRepository(db).insert(storedCron({ assistant_id }));
    const other = storedCron({ assistant_id: id(2) });
    await cronRepository(db).insert(other);
    await assistants.upsertSystemAssistants([system('counter')]);
    expect(await crons()).toEqual([other.cron_id]);

    const own = storedCron({ assistant_id });
    await cronRepository(db).insert(own);
    await assistants.upsertSystemAssistants([system('counter')]);
    await assistants.deleteSystemAssistantsExcept([]);
    expect((await crons()).toSorted()).toEqual([own.cron_id, other.cron_id].toSorted());
  });

  test('of removed graphs are deleted, but not assistants created by clients', async () => {
    await using db = await open();
    const assistants = assistantRepository(db);
    await assistants.upsertSystemAssistants([system('kept'), system('gone')]);
    await assistants.insert(assistant(7, { name: 'client', metadata: { created_by: 'system' } }));
    await assistants.deleteSystemAssistantsExcept([systemAssistantId('kept')]);
    expect(await found(assistants, { sort_by: 'name', sort_order: 'asc' })).toEqual(['client', 'kept']);
    await assistants.deleteSystemAssistantsExcept([]);
    expect(await found(assistants, {})).toEqual(['client']);
  });
});

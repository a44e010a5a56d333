import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Db } from '../../../src/db/db.ts';
import { type DialectSql, raw, sql } from '../../../src/db/sql.ts';
import { data } from '../../../src/extensions/a2a/data.ts';
import { a2aPushRepository } from '../../../src/extensions/a2a/storage/push-configs.ts';
import { type A2aTaskRow, a2aTaskRepository } from '../../../src/extensions/a2a/storage/tasks.ts';
import { runEventRepository } from '../../../src/storage/runs/events.ts';
import { describeEachStorage, describeEncrypted } from '../../support/databases.ts';
import { explaining } from '../../support/query-plans.ts';
import { AGENT, AT, COMPLETED, MESSAGE, taskStory, WAITING } from '../../support/stored-tasks.ts';
import { tamper } from '../../support/tampered-rows.ts';

const MANY: DialectSql = {
  sqlite: raw(`json_each('[${Array.from({ length: 2000 }, (_, i) => i).join()}]') i`),
  postgres: raw('generate_series(1, 2000) i'),
};

describeEachStorage('tasks of A2A', (open) => {
  test('have the status of their run, and no state until they are finalized', async () => {
    await using db = await open();
    const { tasks, add, found, set, settle } = taskStory(db);
    const task_id = await add();
    const task = { task_id, assistant_id: AGENT, context_id: 'a name', run_id: task_id, created_at: AT };
    expect(await found(task_id)).toMatchObject({
      ...task,
      state: null,
      run_status: 'pending',
      artifacts: [],
    });
    await set(task_id, 'success');
    expect(await found(task_id)).toMatchObject({ state: null, run_status: 'success' });
    await settle(task_id, { state: 'TASK_STATE_INPUT_REQUIRED', artifacts: [{ artifactId: 'a' }] });
    expect(await found(task_id)).toMatchObject({
      state: 'TASK_STATE_INPUT_REQUIRED',
      at: AT,
      artifacts: [{ artifactId: 'a' }],
    });
    expect(await tasks.turns(task_id)).toEqual([{ task_id, run_id: task_id, position: 0, message: MESSAGE }]);
  });

  test('continue with another run, which a late finalization of the previous run does not undo', async () => {
    await using db = await open();
    const { tasks, add, continued, found, set } = taskStory(db);
    const task_id = await add();
    const before = await found(task_id);
    const { outcome, run_id } = await continued(task_id, undefined);
    expect(outcome).toBe('queued');
    await set(task_id, 'success');
    expect(await tasks.finalize({ row: before, result: COMPLETED, notification: undefined })).toBe(false);
    expect(await found(task_id)).toMatchObject({ run_id, state: null, run_status: 'pending' });
    expect((await tasks.turns(task_id)).map((each) => each.run_id)).toEqual([task_id, run_id]);
  });

  test('take one answer to each question, and nothing once they have ended', async () => {
    await using db = await open();
    const { tasks, add, continued, set, settle } = taskStory(db);
    const task_id = await add();
    await set(task_id, 'success');
    await settle(task_id, WAITING);
    const outcomes = await Promise.all([continued(task_id, task_id), continued(task_id, task_id)]);
    expect(outcomes.map(({ outcome }) => outcome).sort()).toEqual(['queued', 'refused']);
    expect(await tasks.turns(task_id)).toHaveLength(2);

    const { run_id } = outcomes.find(({ outcome }) => outcome === 'queued') ?? outcomes[0];
    await set(run_id, 'success');
    await settle(task_id, COMPLETED);
    expect((await continued(task_id, run_id)).outcome).toBe('refused');
    expect((await continued(task_id, undefined)).outcome).toBe('refused');
  });

  test('are listed as unfinalized from the end of their run, page by page', async () => {
    await using db = await open();
    const { tasks, add, set, settle } = taskStory(db);
    const ids = [await add(), await add(), await add(), await add()].toSorted();
    for (const id of ids.slice(1)) await set(id, 'success');
    await settle(ids[2] as string, COMPLETED);
    const first = await tasks.unfinalized(undefined, 1);
    const rest = await tasks.unfinalized(first[0]?.run_id, 10);
    expect([...first, ...rest].map(({ task_id }) => task_id)).toEqual([ids[1], ids[3]]);
    expect((await tasks.unfinalizedOf(ids.slice(0, 2))).map(({ task_id }) => task_id)).toEqual([ids[1]]);
  });

  test('are unfinalized only once every one of their runs has ended, in any order', async () => {
    await using db = await open();
    const { tasks, add, continued, found, set } = taskStory(db);
    const task_id = await add();
    const { run_id } = await continued(task_id, undefined);
    await set(task_id, 'running');
    await set(run_id, 'interrupted');
    expect(await found(task_id)).toMatchObject({ run_id, run_status: 'running' });
    expect(await tasks.unfinalized(undefined, 10)).toEqual([]);
    await set(task_id, 'success');
    const ended = { task_id, run_status: 'interrupted' };
    expect(await tasks.unfinalizedOf([task_id])).toMatchObject([ended]);
    expect(await tasks.unfinalized(undefined, 10)).toMatchObject([ended]);
  });

  test('that wait after a notification are found again when their thread continues without them', async () => {
    await using db = await open();
    const { tasks, add, set, settle } = taskStory(db);
    const ids: string[] = [];
    for (const told of [true, true, false]) {
      const task_id = await add();
      await set(task_id, 'success');
      await settle(task_id, WAITING);
      const config = { config_id: undefined, version: '1.0', url: 'https://x.example/' } as const;
      const nothing = { token: null, scheme: null, credentials: null };
      if (told) await a2aPushRepository(db).save(task_id, { ...config, ...nothing });
      ids.push(task_id);
    }
    const moved = (task_id: string | undefined, at: string) =>
      db.run(sql`update threads set state_updated_at = ${at}
        where thread_id = (select thread_id from a2a_tasks where task_id = ${task_id as string})`);
    for (const id of ids) await moved(id, AT);
    expect(await tasks.superseded([WAITING.state], undefined, 10)).toEqual([]);
    await moved(ids[0], '2026-11-20T12:00:00.001Z');
    await moved(ids[2], '2026-11-20T12:00:00.001Z');
    expect((await tasks.superseded([WAITING.state], undefined, 10)).map(({ task_id }) => task_id)).toEqual([
      ids[0],
    ]);
  });

  test('that wait are found by an index that many other tasks do not slow down', async () => {
    await using db = await open();
    const { add } = taskStory(db);
    await add();
    const id = raw(db.dialect === 'sqlite' ? 'cast(i.value as text)' : 'gen_random_uuid()');
    await db.run(sql`
      insert into a2a_tasks (task_id, thread_id, assistant_id, context_id, run_id, state, artifacts, created_at)
      select ${id}, t.thread_id, t.assistant_id, '', ${id}, ${COMPLETED.state}, t.artifacts, t.created_at
      from a2a_tasks t, ${MANY}`);
    await db.run(raw('analyze a2a_tasks'));
    const reader = explaining(db);
    await a2aTaskRepository({ ...db, ...reader } as Db).superseded([WAITING.state], undefined, 16);
    expect(reader.plans[0]).toContain('a2a_tasks_state');
  });

  test('keep the logs of their runs until they are finalized', async () => {
    await using db = await open();
    const { tasks, add, found, set } = taskStory(db);
    const events = runEventRepository(db, [data.keeps_log ?? '']);
    const task_id = await add();
    await set(task_id, 'success');
    await db.run(
      sql`insert into run_events (run_id, seq, event, data) values (${task_id}, 1, 'custom', '{}')`,
    );
    await db.run(sql`insert into run_event_expiry (run_id, expires_at) values (${task_id}, ${AT})`);
    expect(await events.deleteExpired(10)).toBe(0);
    const kept_runs = await tasks.runsPendingArtifacts(task_id);
    expect(kept_runs).toEqual([task_id]);
    await tasks.finalize({
      row: await found(task_id),
      result: COMPLETED,
      collected_runs: kept_runs,
      notification: undefined,
    });
    expect(await tasks.runsPendingArtifacts(task_id)).toEqual([]);
    // The event and the expiry.
    expect(await events.deleteExpired(10)).toBe(2);
  });

  test('are listed page by page, the newest state first, by their state and their time', async () => {
    await using db = await open();
    const { tasks, add, set, settle } = taskStory(db);
    for (const minute of [1, 2, 2, 3]) {
      await set(await add(), 'success', `2026-11-20T12:0${minute}:00.000Z`);
    }
    const whole = await tasks.list({ assistant_id: AGENT, limit: 10 });
    expect(whole.map(({ at }) => at.slice(14, 16))).toEqual(['03', '02', '02', '01']);
    const first = await tasks.list({ assistant_id: AGENT, limit: 2 });
    const rest = await tasks.list({ assistant_id: AGENT, after: first.at(-1), limit: 10 });
    expect([...first, ...rest]).toEqual(whole);
    const since = { assistant_id: AGENT, since: '2026-11-20T12:02:00.000Z' };
    expect(await tasks.count(since)).toBe(3);
    const finalized = [COMPLETED.state];
    expect(await tasks.count({ ...since, states: { finalized, run_statuses: ['error'] } })).toBe(0);
    expect(
      await tasks.count({ ...since, states: { finalized: [], run_statuses: ['error', 'success'] } }),
    ).toBe(3);
    await settle(whole[0]?.task_id as string, COMPLETED);
    expect(await tasks.count({ ...since, states: { finalized, run_statuses: [] } })).toBe(1);
    expect(await tasks.count({ ...since, states: { finalized: [], run_statuses: ['success'] } })).toBe(2);
    expect(await tasks.count({ assistant_id: randomUUID() })).toBe(0);
  });

  test('are listed once each, page by page, when their runs began at the same time', async () => {
    await using db = await open();
    const { tasks, add, claim } = taskStory(db);
    const ids = await Promise.all(Array.from({ length: 6 }, () => add()));
    await claim(ids.length);
    const seen: string[] = [];
    for (let after: A2aTaskRow | undefined; ; ) {
      const page = await tasks.list({ assistant_id: AGENT, after, limit: 2 });
      seen.push(...page.map(({ task_id }) => task_id));
      after = page.at(-1);
      if (!after) break;
      const { at: since } = after;
      expect(await tasks.count({ assistant_id: AGENT, since })).toBe(ids.length);
    }
    expect(seen).toEqual(ids.toSorted().toReversed());
  });

  test('are hidden from users who may not see their thread, and deleted with it', async () => {
    await using db = await open();
    const { tasks, add, found } = taskStory(db);
    const { task_id, thread_id } = await found(await add());
    const others = { metadata: { contains: { owner: 'bob' } } };
    expect(await tasks.get(task_id, others)).toBeUndefined();
    expect(await tasks.list({ limit: 10 }, others)).toEqual([]);
    expect(await tasks.lastCheckpoint(thread_id, [task_id])).toBeUndefined();
    await db.run(sql`delete from threads where thread_id = ${thread_id}`);
    expect(await tasks.turns(task_id)).toEqual([]);
  });
});

describeEncrypted('tasks of A2A that cannot be decrypted', (open) => {
  test('do not delay others', async () => {
    await using db = await open();
    const { tasks, add, set } = taskStory(db);
    const ids = [await add(), await add(), await add()].toSorted() as [string, string, string];
    for (const id of ids) await set(id, 'success');
    await tamper(db, 'a2a_tasks.artifacts', 'task_id', ids[0]);

    const page = await tasks.unfinalized(undefined, 1);
    expect(page.map(({ task_id }) => task_id)).toEqual([ids[1]]);
    expect(await tasks.unfinalized(ids[1], 10)).toMatchObject([{ task_id: ids[2] }]);
  });
});

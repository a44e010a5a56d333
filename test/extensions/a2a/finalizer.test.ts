import { expect, test } from 'vitest';
import type { LogLine } from '../../../src/core/logger.ts';
import { memoryBus } from '../../../src/events/bus.ts';
import { taskFinalizer } from '../../../src/extensions/a2a/finalizer.ts';
import { describeEachDatabase } from '../../support/databases.ts';
import { recordingLogger } from '../../support/recording-logger.ts';
import { COMPLETED, taskStory } from '../../support/stored-tasks.ts';
import { until } from '../../support/until.ts';

describeEachDatabase('the finalizer of tasks', (open) => {
  test('skips a task that cannot be read, and tries it again later', async () => {
    await using db = await open();
    const { tasks, add, set } = taskStory(db);
    const ids = (await Promise.all(Array.from({ length: 20 }, () => add()))).toSorted();
    for (const id of ids) await set(id, 'success');
    const [broken] = ids;
    const log: LogLine[] = [];
    let now_ms = 0;
    let tries = 0;
    const bus = memoryBus();
    const loop = taskFinalizer({
      tasks,
      bus,
      async finalize(row) {
        if (row.task_id !== broken)
          return tasks.finalize({ row, result: COMPLETED, notification: undefined });
        tries += 1;
        throw new Error('its graph does not load');
      },
      clock: { now: () => now_ms, monotonic: () => now_ms },
      logger: recordingLogger('info', (line) => log.push(line)),
    });
    const unsettled = async () => (await tasks.unfinalized(undefined, 100)).map(({ task_id }) => task_id);
    loop.start();
    await until('the others are settled', async () => (await unsettled()).length === 1);
    expect([await unsettled(), tries]).toEqual([[broken], 1]);

    const late = await add();
    await set(late, 'success');
    bus.emit('run.ended', late);
    await until('another one is settled', async () => (await unsettled()).length === 1);
    expect(tries).toBe(1);

    now_ms += 5_000;
    bus.emit('reconnected');
    await until('it was tried again', () => tries === 2);
    await loop.stop();
    expect(log).toMatchObject([
      { level: 'error', fields: { task_id: broken, in_ms: 5_000 } },
      { level: 'error', fields: { in_ms: 10_000 } },
    ]);
  });
});

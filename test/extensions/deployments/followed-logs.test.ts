import { expect, test } from 'vitest';
import type { ControlPlane } from '../../../src/extensions/deployments/commands/client/control-plane.ts';
import { printLog, queuedRevision } from '../../../src/extensions/deployments/commands/client/follow.ts';
import type { LogSearch } from '../../../src/extensions/deployments/schemas/deployments.ts';

const line = (number: number) => ({
  id: String(number),
  // Some lines have the same time.
  timestamp: new Date(1.7e12 + Math.floor(number / 3) * 1000).toISOString(),
  level: 'INFO',
  message: `line ${number}`,
});

test('logs -f prints lines without gaps or duplicates while the oldest are deleted', async () => {
  const from = (start: number, end: number) =>
    Array.from({ length: end - start }, (_, at) => line(start + at));
  const turns = [from(0, 2500), from(0, 2501), from(1500, 2504), from(2000, 2510)];
  let turn = 0;
  const plane = {
    revision: async () => ({ status: turn < turns.length - 1 ? 'BUILDING' : 'DEPLOYED' }),
    async logs(_id: string, _revision_id: string, _kind: string, search: LogSearch) {
      const { offset, limit, start_time } = search;
      const found = (turns[turn] ?? []).filter(({ timestamp }) => timestamp >= (start_time ?? ''));
      const logs = found.slice(Number(offset), Number(offset) + limit);
      // More is written between two questions for the end.
      if (logs.length < limit) turn += 1;
      return { logs, next_offset: null };
    },
  } as unknown as ControlPlane;
  const printed: string[] = [];
  const log = { id: 'one', revision_id: 'one', kind: 'build' } as const;
  await printLog(plane, log, true, (text) => printed.push(text.split(' ').at(-1) as string));
  expect(printed).toEqual(from(0, 2510).map(({ id }) => id));
});

test.each([true, false])(
  'a command reports the revision that it has queued, waiting for it: %s',
  async (isWaiting) => {
    const plane = {
      revision: async (_id: string, id: string) => ({ id, status: 'DEPLOYED', build_steps: [] }),
      // Another client has queued one since.
      revisions: async () => [{ id: 'newer' }, { id: 'queued' }],
    } as unknown as ControlPlane;
    const answer = { id: 'one', latest_revision_id: 'queued' };
    expect(await queuedRevision(plane, answer, isWaiting, () => {})).toMatchObject({ id: 'queued' });
  },
);

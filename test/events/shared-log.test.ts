import { expect, test } from 'vitest';
import { sharedLog } from '../../src/events/shared-log.ts';
import type { Frame, Page, RunEventRepository } from '../../src/storage/runs/events.ts';

/** A log to which frames are added, and how often it was read. */
function countedLog() {
  const frames: Frame[] = [];
  const reads: string[] = [];
  const readAfter = async (run_id: string, seq: number, limit: number): Promise<Page> => {
    reads.push(`${run_id} ${seq}`);
    return { frames: frames.filter((frame) => frame.seq > seq).slice(0, limit), isLast: true };
  };
  const add = () => void frames.push({ seq: frames.length + 1, event: 'custom', data: '{}' });
  return { add, reads, log: sharedLog({ readAfter } as RunEventRepository) };
}

test('followers at the same position of a run share a read', async () => {
  const { add, reads, log } = countedLog();
  add();
  const pages = await Promise.all(Array.from({ length: 100 }, () => log.readAfter('run', 0, 500)));
  expect(pages.every((page) => page.frames[0]?.seq === 1)).toBe(true);
  expect(reads).toEqual(['run 0']);
});

test('followers of different runs or positions do not share a read', async () => {
  const { add, reads, log } = countedLog();
  add();
  await Promise.all([
    log.readAfter('run', 0, 500),
    log.readAfter('run', 1, 500),
    log.readAfter('other', 0, 500),
  ]);
  expect(reads).toEqual(['run 0', 'run 1', 'other 0']);
});

test('a read that began before an event is not shared with a follower that was notified of it', async () => {
  const { add, log } = countedLog();
  const before = log.readAfter('run', 0, 500);
  expect((await before).frames).toEqual([]);
  add();
  expect((await log.readAfter('run', 0, 500)).frames).toHaveLength(1);
});

import { readdir } from 'node:fs/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { deploymentFiles } from '../../../src/extensions/deployments/storage/files.ts';
import { type Project, project } from '../../support/project.ts';

let folder: Project;
beforeEach(async () => {
  folder = await project({});
});
afterEach(() => folder[Symbol.asyncDispose]());

const timestamp = '2026-01-01T00:00:00.000Z';
const KB = 'x'.repeat(1024);

const logOf = (kind: 'build' | 'deploy') => deploymentFiles(folder.root).log('agent', 'one', kind);

/** Writes a line of more than 1 kB for each number. */
function fill(log: ReturnType<typeof logOf>, count: number): void {
  for (let number = 1; number <= count; number += 1)
    log.write({ timestamp, level: 'INFO', message: `${number} ${KB}` });
}

test('the log of a serving revision keeps its newest lines', async () => {
  fill(logOf('deploy'), 20_000);
  // As after a restart.
  logOf('deploy').write({ timestamp, level: 'INFO', message: 'the last' });
  const lines = await logOf('deploy').read();
  const numbers = lines.slice(0, -1).map(({ message }) => Number.parseInt(message, 10));
  const first = numbers[0] as number;
  expect(numbers).toEqual(Array.from({ length: 20_000 - first + 1 }, (_, at) => first + at));
  expect(lines.at(-1)?.message).toBe('the last');
  expect(lines.length).toBeGreaterThan(3000);
  expect(await readdir(folder.path('apps/agent/logs'))).toHaveLength(2);
  expect(await deploymentFiles(folder.root).logged('agent', 'deploy')).toMatchObject([
    { revision_id: 'one' },
  ]);
});

test('the id of a log line does not change when older lines are deleted', async () => {
  const log = logOf('deploy');
  fill(log, 6000);
  const before = new Map((await log.read()).map(({ id, message }) => [message, id]));
  fill(log, 3000);
  const after = await log.read();
  expect(new Set(after.map(({ id }) => id)).size).toBe(after.length);
  const kept = after.filter(({ message }) => Number.parseInt(message, 10) > 3000);
  expect(kept.length).toBeGreaterThan(0);
  for (const { id, message } of kept) expect(id).toBe(before.get(message));
});

test('the log of a build keeps its first lines, notes that it is full, and still takes errors', async () => {
  const log = logOf('build');
  fill(log, 9000);
  const lines = await log.read();
  expect(lines[0]?.message.startsWith('1 ')).toBe(true);
  expect(lines.at(-1)?.message).toContain('The log is full');

  log.write({ timestamp, level: 'ERROR', message: 'Why it failed.' });
  fill(log, 10);
  const after = await logOf('build').read();
  expect(after.slice(lines.length).map(({ message }) => message)).toEqual(['Why it failed.']);
  for (let times = 1; times < 1000; times += 1) log.write({ timestamp, level: 'ERROR', message: KB });
  expect((await log.read()).length).toBeLessThan(after.length + 100);
});

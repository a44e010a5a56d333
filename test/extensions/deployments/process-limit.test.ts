import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { describe, expect, test } from 'vitest';
import {
  type Command,
  type CommandEnd,
  runCommand,
} from '../../../src/extensions/deployments/build/process/command.ts';
import { takeUser } from '../../../src/extensions/deployments/build/process/users.ts';
import { MB } from '../../support/builds.ts';

const TASKS = 40;

async function shell(script: string, more: Partial<Command> = {}): Promise<CommandEnd & { lines: string[] }> {
  const lines: string[] = [];
  const end = await runCommand({
    argv: ['/bin/sh', '-c', script],
    cwd: tmpdir(),
    env: { PATH: process.env['PATH'] ?? '' },
    limits: { memory_bytes: 4096 * MB, disk_bytes: 1024 * MB, folders: [], tasks: TASKS },
    signal: new AbortController().signal,
    onLine: (line) => lines.push(line),
    ...more,
  });
  return { ...end, lines };
}

describe.skipIf(!existsSync('/proc/self/limits'))('a command with a limit of processes', () => {
  test('is ended above the limit', async () => {
    const script = `n=0; while [ $n -lt ${TASKS} ]; do sleep 1000 & n=$((n + 1)); done; wait`;
    expect((await shell(script)).stopped).toBe('process_limit');
  });

  test('runs below the limit', async () => {
    const end = await shell('for n in 1 2 3 4 5; do sleep 0 & done; wait; echo done');
    expect(end).toMatchObject({ code: 0, stopped: undefined, lines: ['done'] });
  });

  test.skipIf(process.getuid?.() !== 0)(
    'cannot exceed twice the limit before it is ended if it has its own user',
    async () => {
      using user = await takeUser('a fork bomb');
      const script = 'n=0; while :; do sleep 1000 & n=$((n + 1)); echo $n; done';
      const { lines, stopped, code } = await shell(script, { uid: user?.uid });
      expect(stopped === 'process_limit' || code !== 0).toBe(true);
      const started = lines.filter((line) => /^\d+$/.test(line)).length;
      expect(started).toBeGreaterThan(TASKS / 2);
      expect(started).toBeLessThan(2 * TASKS);
    },
  );

  test.skipIf(process.getuid?.() === 0)(
    'has the other processes of its user added to the limit of the kernel',
    async () => {
      const { lines } = await shell('cat /proc/self/limits');
      const allowed = /^Max processes +(\d+)/m.exec(lines.join('\n'))?.[1];
      expect(Number(allowed)).toBeGreaterThan(2 * TASKS);
    },
  );
});

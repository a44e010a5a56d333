import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';

/** A network of its own that has only the loopback device, and no route. What runs there ends with it. */
const NAMESPACE = [
  ...['--map-root-user', '--net', '--pid', '--fork', '--kill-child', '--'],
  ...['sh', '-c', 'ip link set lo up && exec "$0" "$@"'],
];
const canUnshare = spawnSync('unshare', [...NAMESPACE, 'true']).status === 0;

describe.runIf(canUnshare)(
  'without a network (needs a kernel that lets this user make network namespaces, and Debian package iproute2)',
  () => {
    test('everything works, and the server contacts no host that its configuration does not name', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'agent-server-offline-'));
      const calls = join(folder, 'calls');
      const program = [process.execPath, resolve(import.meta.dirname, 'everything.ts'), calls];
      const said = await promisify(execFile)('unshare', [...NAMESPACE, ...program], { timeout: 120_000 });
      expect(said).toMatchObject({ stdout: '', stderr: '' });

      const recorded = new Set((await readFile(calls, 'utf8')).trim().split('\n'));
      await rm(folder, { recursive: true });
      expect([...recorded].sort()).toEqual([
        // The receiver of a webhook, a graph that calls somebody itself, and what the server listens on.
        expect.stringMatching(/^connect 127\.0\.0\.1:\d+$/),
        'connect 192.0.2.1:81',
        'look up 127.0.0.1',
      ]);
    });
  },
);

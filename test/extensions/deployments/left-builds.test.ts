import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { MARKER } from '../../../src/extensions/deployments/build/process/end-processes.ts';
import { openDeploymentServer } from '../../support/deployments.ts';

test.skipIf(!existsSync('/proc'))(
  'at startup, the server ends the build processes that a killed server left behind, and no others',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'agent-server-left-'));
    await using _folder = {
      [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true, maxRetries: 10 }),
    };
    const start = (home: string) => {
      const env = { PATH: process.env['PATH'], [MARKER]: home };
      return spawn('sleep', ['1000'], { env, detached: true, stdio: 'ignore' });
    };
    const left = start(join(folder, '.agent-server/deployments/apps/agent/builds/1/home'));
    const other = start(join(folder, '.agent-server/deployments-of-another/apps/agent/builds/1/home'));
    const ended = once(left, 'exit');
    try {
      await using _server = await openDeploymentServer({ folder });
      expect(await ended).toEqual([null, 'SIGKILL']);
      expect(other.exitCode ?? other.signalCode).toBe(null);
    } finally {
      left.kill('SIGKILL');
      other.kill('SIGKILL');
    }
  },
);

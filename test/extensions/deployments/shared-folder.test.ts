import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { MARKER } from '../../../src/extensions/deployments/build/process/end-processes.ts';
import { openDeploymentServer } from '../../support/deployments.ts';
import { failure } from '../../support/naming.ts';
import { project } from '../../support/project.ts';

test('a second server with the same deployments.folder does not start, and ends no build of the first', async () => {
  await using shared = await project({});
  const deployments = { folder: shared.path('deployments') };
  const first = await openDeploymentServer({ deployments });
  const env = { PATH: process.env['PATH'], [MARKER]: join(deployments.folder, 'apps/agent/builds/1/home') };
  const build = spawn('sleep', ['1000'], { env, detached: true, stdio: 'ignore' });
  try {
    const lock = join(deployments.folder, 'server.lock');
    await expect(openDeploymentServer({ deployments })).rejects.toThrow(
      failure(Error, deployments.folder, lock, '"deployments.folder"'),
    );
    expect(build.exitCode ?? build.signalCode).toBe(null);
    expect((await first.get('/v2/deployments')).status).toBe(200);
  } finally {
    build.kill('SIGKILL');
    await first[Symbol.asyncDispose]();
  }
  await using again = await openDeploymentServer({ deployments });
  expect((await again.get('/v2/deployments')).status).toBe(200);
});

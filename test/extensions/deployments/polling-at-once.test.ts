import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import { systemIds } from '../../../src/core/ids.ts';
import { deploymentPolls } from '../../../src/extensions/deployments/work/polls.ts';
import { openDeploymentStorage } from '../../support/deployment-storage.ts';
import { partsOf } from '../../support/parts-of.ts';
import { recordingLogger } from '../../support/recording-logger.ts';
import { until } from '../../support/until.ts';

test('few repositories are polled concurrently, and hosts that never answer delay no others', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'agent-server-polls-'));
  await using storage = await openDeploymentStorage({
    url: `sqlite:${join(folder.path, 'data.sqlite')}`,
    synchronous: 'full',
  });
  const ids = systemIds(systemClock);
  const names = Array.from({ length: 12 }, (_, n) =>
    n % 4 === 3 ? `quick-${n}` : n < 9 && n % 4 === 0 ? `silent-${n}` : `quick-${n}`,
  );
  for (const name of names) {
    const deployment = {
      deployment_id: ids.uuid4(),
      name,
      source: 'github' as const,
      source_revision_config: { repo_ref: 'main' },
    };
    await storage.deployments.insert(
      { ...deployment, source_config: { repo_url: `https://${name}.example/a.git`, build_on_push: true } },
      [],
      undefined,
    );
  }
  const asked = new Map<string, number>();
  let at_once = 0;
  let most = 0;
  const polls = deploymentPolls({
    ...storage,
    bus: partsOf({ emit: () => {} }),
    ids,
    logger: recordingLogger('error', (line) => expect.fail(line.message)),
    poll_seconds: 0.05,
    resolve: async ({ url, signal }) => {
      asked.set(url, (asked.get(url) ?? 0) + 1);
      most = Math.max(most, ++at_once);
      if (url.includes('silent')) {
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
        signal.throwIfAborted();
      }
      await new Promise(setImmediate);
      at_once -= 1;
      return { sha: 'a'.repeat(40), known_hosts: undefined };
    },
  });
  polls.start();
  const quick = names.filter((name) => name.startsWith('quick'));
  expect(names.length - quick.length).toBe(3);
  const times = (name: string) => asked.get(`https://${name}.example/a.git`) ?? 0;
  await until('the others were asked three times', () => quick.every((name) => times(name) >= 3));
  await polls.stop();
  expect(most).toBe(4);
  expect(names.filter((name) => name.startsWith('silent')).map(times)).toEqual([1, 1, 1]);
});

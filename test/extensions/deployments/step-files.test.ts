import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { OWNED_DATA } from '../../../src/app/extensions.ts';
import { openFoundation } from '../../../src/app/foundation.ts';
import { createReplaceableApp } from '../../../src/app.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { systemClock } from '../../../src/core/clock.ts';
import type { FailureFrame } from '../../../src/schemas/step-contents.ts';
import { makeDataFolder } from '../../support/data-folder.ts';
import { recordingLogger } from '../../support/recording-logger.ts';

const cwd = resolve(import.meta.dirname, '../../fixtures/conversing-graphs');

test('the stack of a step in a deployment has no absolute path, as its sources are not edited in place', async () => {
  const folder = await makeDataFolder();
  const { config } = await loadConfig({
    cwd,
    environment: {
      DATABASE_URI: `sqlite:${folder}/server.db`,
      AGENT_SERVER_DATA_DIR: folder,
      AGENT_SERVER_RECORD: 'contents',
      AGENT_SERVER_HOSTS: '0',
    },
  });
  const logger = recordingLogger('error', () => {});
  const opened = { logger, clock: systemClock, worker_id: randomUUID(), owned: OWNED_DATA };
  await using foundation = await openFoundation(config, opened);
  await using app = await createReplaceableApp(
    { ...config, graphs: config.graphs.filter(({ graph_id }) => graph_id === 'failing') },
    { logger },
    {
      foundation,
      is_first: true,
      executor_id: randomUUID(),
      environment: {},
      server_root: config.root,
      administrators: foundation.storage.apiKeys,
      graph_token: 'unused',
      root: undefined,
      stop: undefined,
    },
  );
  await app.ready();
  const { headers } = await app.server.inject({
    method: 'POST',
    url: '/runs/wait',
    payload: { assistant_id: 'failing', input: {}, on_completion: 'keep' },
  });
  const run = String(headers['content-location']).replace('/wait', '').replace('/join', '');
  const { steps } = (await app.server.inject(`${run}/steps`)).json();
  const failed = steps.find(({ kind }: { kind: string }) => kind === 'node');
  const step = (await app.server.inject(`${run}/steps/${failed.attempt}.${failed.number}`)).json();
  const frames = step.contents.failure[0].frames as FailureFrame[];
  const own = frames.find(({ is_own }) => is_own);
  expect(own).toMatchObject({ path: 'failing.ts', line: 7 });
  expect(frames.filter((frame) => 'file' in frame)).toEqual([]);
  await rm(folder, { recursive: true, force: true, maxRetries: 10 });
});

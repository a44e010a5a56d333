import { utimes } from 'node:fs/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemActor } from '../../../src/auth/actor.ts';
import { LogSearch } from '../../../src/extensions/deployments/schemas/deployments.ts';
import {
  type DeploymentLogDeps,
  deploymentLogService,
} from '../../../src/extensions/deployments/services/logs.ts';
import { deploymentFiles } from '../../../src/extensions/deployments/storage/files.ts';
import { type Project, project } from '../../support/project.ts';

let folder: Project;
beforeEach(async () => {
  folder = await project({});
});
afterEach(() => folder[Symbol.asyncDispose]());

const DEPLOYMENT_ID = '00000000-0000-4000-8000-000000000000';
const HOUR = 3_600_000;
const START = Date.parse('2026-01-01T00:00:00.000Z');

/** Each revision prints ten lines in its hour. */
async function printed(...revision_ids: readonly string[]): Promise<void> {
  const files = deploymentFiles(folder.root);
  for (const [hour, revision_id] of revision_ids.entries()) {
    const log = files.log('agent', revision_id, 'deploy');
    const at = (minute: number) => new Date(START + hour * HOUR + minute * 60_000);
    for (let minute = 1; minute <= 10; minute += 1)
      log.write({ timestamp: at(minute).toISOString(), level: 'INFO', message: `${revision_id} ${minute}` });
    await utimes(folder.path(`apps/agent/logs/${revision_id}.deploy.jsonl`), at(10), at(10));
  }
}

/** The messages that a search finds, and the revisions whose logs were read for it. */
async function search(query: Partial<LogSearch>) {
  const files = deploymentFiles(folder.root);
  const read: string[] = [];
  const service = deploymentLogService({
    deployments: { find: async () => ({ name: 'agent' }) },
    revisions: {},
    files: {
      ...files,
      log(name: string, revision_id: string, kind: 'deploy') {
        read.push(revision_id);
        return files.log(name, revision_id, kind);
      },
    },
  } as unknown as DeploymentLogDeps);
  const page = await service.ofDeployment(systemActor('test'), DEPLOYMENT_ID, LogSearch.parse(query));
  return { read, next: page.next_offset, messages: page.logs.map(({ message }) => message) };
}

test('the newest lines of a deployment are found without the logs of all its revisions', async () => {
  await printed('r1', 'r2', 'r3', 'r4');
  const first = await search({ order: 'desc', limit: 3 });
  expect(first).toEqual({ read: ['r4'], next: '3', messages: ['r4 10', 'r4 9', 'r4 8'] });
  const second = await search({ order: 'desc', limit: 2, offset: '9' });
  expect(second).toEqual({ read: ['r4', 'r3'], next: '11', messages: ['r4 1', 'r3 10'] });
  const last = await search({ order: 'desc', limit: 5, offset: '38' });
  expect(last).toMatchObject({ next: null, messages: ['r1 2', 'r1 1'] });
});

test('log lines since a time are found without reading logs that ended before', async () => {
  await printed('r1', 'r2', 'r3');
  const start_time = new Date(START + 2 * HOUR).toISOString();
  expect(await search({ order: 'asc', limit: 2, start_time })).toMatchObject({
    read: ['r3'],
    messages: ['r3 1', 'r3 2'],
  });
});

test('the newest lines of a deployment include those of an old revision that still prints', async () => {
  await printed('r2', 'r1');
  const { messages } = await search({ order: 'desc', limit: 2 });
  expect(messages).toEqual(['r1 10', 'r1 9']);
  expect((await search({ order: 'asc', limit: 1 })).messages).toEqual(['r2 1']);
});

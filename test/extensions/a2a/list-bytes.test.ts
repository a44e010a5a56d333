import { expect, test } from 'vitest';
import { systemActor } from '../../../src/auth/actor.ts';
import { silentLogger } from '../../../src/core/logger.ts';
import { requestHandler } from '../../../src/extensions/a2a/http/methods.ts';
import { naming } from '../../support/naming.ts';

type Deps = Parameters<typeof requestHandler>[0];
type Call = Parameters<typeof requestHandler>[1];

/** Lists 30 tasks whose history has one message of 4 MB each. */
async function listed(query: object) {
  const parts = [{ content: { $case: 'text', value: 'x'.repeat(4_000_000) } }];
  let viewed = 0;
  const a2a = {
    list: async () => ({ rows: Array(30).fill({}), nextPageToken: '', pageSize: 30, totalSize: 30 }),
    async view() {
      viewed += 1;
      return { id: String(viewed), contextId: 'c', history: [{ parts }], artifacts: [] };
    },
  };
  const call = { actor: systemActor('test'), cardData: { assistant: { assistant_id: 'a' } }, version: '1.0' };
  const deps = { a2a, logger: silentLogger } as unknown as Deps;
  const handler = requestHandler(deps, call as unknown as Call);
  const [answer] = await Promise.allSettled([handler.listTasks(query as never, {} as never)]);
  return { answer, viewed };
}

test('a page of tasks too large for one response is refused before all of it is read', async () => {
  const { answer, viewed } = await listed({});
  const message = naming('pageSize', 20, 67_108_864);
  expect(answer).toMatchObject({ status: 'rejected', reason: { message } });
  expect(viewed).toBe(20);
});

test('the size of a page of tasks does not count history that was not requested', async () => {
  const { answer, viewed } = await listed({ historyLength: 0 });
  expect(answer).toMatchObject({ status: 'fulfilled', value: { totalSize: 30 } });
  expect(viewed).toBe(30);
});

import { expect, test } from 'vitest';
import { systemActor } from '../../src/auth/actor.ts';
import { InvalidInput } from '../../src/core/errors.ts';
import { failure } from '../support/naming.ts';
import { openServices } from '../support/services.ts';

const actor = systemActor('test');

test('a list of runs that is too large for one response is refused with the limit', async () => {
  await using services = await openServices({ max_list_bytes: 5000 });
  const { thread_id } = await services.threads.create(actor, { if_exists: 'raise' });
  const input = { text: 'x'.repeat(10_000) };
  for (let i = 0; i < 3; i++)
    await services.runs.create(actor, thread_id, { assistant_id: 'echo', input }, 'background');
  const all = { limit: 1000, offset: 0 };
  await expect(services.runs.list(actor, thread_id, all)).rejects.toThrow(
    failure(InvalidInput, 'limit', 5000),
  );
  expect(await services.runs.list(actor, thread_id, { ...all, select: ['run_id'] })).toHaveLength(3);
  expect(await services.runs.list(actor, thread_id, { ...all, limit: 1 })).toHaveLength(1);
});

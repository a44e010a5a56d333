import { expect, test } from 'vitest';
import { systemActor } from '../../src/auth/actor.ts';
import { NotFound } from '../../src/core/errors.ts';
import { failure } from '../support/naming.ts';
import { openServices } from '../support/services.ts';

const actor = systemActor('test');
const { signal } = new AbortController();

test('a repeated request for a deleted result is an error, not an empty result', async () => {
  await using services = await openServices({ graphs: ['echo'] });
  const { thread_id } = await services.threads.create(actor, { if_exists: 'raise' });
  const run = await services.runs.create(actor, thread_id, { assistant_id: 'echo' }, 'wait');
  await services.threads.delete(actor, thread_id);
  await expect(services.runs.resultAgain(run, signal)).rejects.toThrow(
    failure(NotFound, 'thread was deleted'),
  );
});

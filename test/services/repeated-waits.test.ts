import { expect, test } from 'vitest';
import { systemActor } from '../../src/auth/actor.ts';
import { openServices } from '../support/services.ts';

const actor = systemActor('test');
const { signal } = new AbortController();

test('a repeated request for a result that was deleted is not answered with an empty one', async () => {
  await using services = await openServices({ graphs: ['echo'] });
  const { thread_id } = await services.threads.create(actor, { if_exists: 'raise' });
  const run = await services.runs.create(actor, thread_id, { assistant_id: 'echo' }, 'wait');
  await services.threads.delete(actor, thread_id);
  await expect(services.runs.resultAgain(run, signal)).rejects.toThrow(
    'The result of this run is gone: its thread was deleted',
  );
});

import { expect, test } from 'vitest';
import { LeaseLost, Unavailable } from '../../src/core/errors.ts';
import { hostRuns } from '../../src/hosts/host/runs.ts';
import { naming } from '../support/naming.ts';
import { recordingLogger } from '../support/recording-logger.ts';

/** Executes a run whose state cannot be read at its end; resolves to that end, and to what was logged. */
async function endedWith(failure: Error) {
  const logged: string[] = [];
  const logger = recordingLogger('error', ({ message }) => logged.push(message));
  const ended = Promise.withResolvers<object>();
  const server = {
    notify: (method: string, params: object) => method === 'run/end' && ended.resolve(params),
    flush() {},
  };
  const graph = { async *stream() {}, state: () => Promise.reject(failure) };
  const graphs = { get: async () => graph };
  const watch = { countRuns() {}, onLeaseEnds() {}, onTaken() {}, look() {} };
  const runs = hostRuns(server as never, graphs as never, logger, watch as never);
  const writer = { thread_id: 'thread', run_id: 'run', durability: 'async', writer: 'ab', is_attempt: true };
  runs.start({
    session: 1,
    graph_id: 'graph',
    call: '{"config":{}}',
    writer: { ...writer, record: 'off' },
  } as never);
  return { end: await ended.promise, logged };
}

test('a run that is deleted while its host executes it ends without a state or an error', async () => {
  const { end, logged } = await endedWith(new LeaseLost('run'));
  expect(end).toEqual({ session: 1, state: undefined, steps: undefined });
  expect(logged).toEqual([]);
});

test('a run whose state cannot be read ends, and the log has the reason', async () => {
  const { end, logged } = await endedWith(new Unavailable('The database cannot be reached.'));
  expect(end).toMatchObject({ session: 1 });
  expect(logged).toEqual([naming('cannot read')]);
});

import { afterAll, describe, expect, test } from 'vitest';
import { written } from '../fixtures/graphs/parallel-writers.ts';
import { databasesByUrl, HAS_POSTGRES } from '../support/databases-by-url.ts';
import { startServer } from '../support/server.ts';

const databases = await databasesByUrl();
afterAll(() => databases[Symbol.asyncDispose]());

type Names = { names: string[] };

describe.each(['sqlite', 'postgres'] as const)('on %s', (engine) => {
  test.skipIf(engine === 'postgres' && !HAS_POSTGRES).each([0, 1])(
    'with %i graph hosts, a delta channel has the order of its stream in the state, after a restart and in the next run',
    async (hosts) => {
      await using server = await startServer({
        graphs: { writers: 'test/fixtures/graphs/parallel-writers.ts:graph' },
        env: {
          DATABASE_URI: await databases[engine](),
          AGENT_SERVER_HOSTS: String(hosts),
        },
        one_process: 'it is restarted',
      });
      const { threads, runs } = server.client;
      const { thread_id } = await threads.create();
      const streamed = async (turn: number, options: object = {}) => {
        let last: Names | undefined;
        const payload = { input: { turn }, streamMode: 'values', ...options } as const;
        for await (const { event, data } of runs.stream(thread_id, 'writers', payload))
          if (event === 'values') last = data as Names;
        return last?.names;
      };
      const state = async () => threads.getState<Names>(thread_id);

      expect(await streamed(1)).toEqual(written(1));
      const { values, checkpoint } = await state();
      expect(values.names).toEqual(written(1));

      await server.restart();
      expect((await state()).values.names).toEqual(written(1));
      const both = [...written(1), ...written(2)];
      expect(await streamed(2)).toEqual(both);
      expect((await state()).values.names).toEqual(both);

      const forked = [...written(1), ...written(3)];
      expect(await streamed(3, { checkpointId: checkpoint.checkpoint_id })).toEqual(forked);
      expect((await state()).values.names).toEqual(forked);
      const copy = await threads.copy(thread_id);
      expect((await threads.getState<Names>(copy.thread_id)).values.names).toEqual(forked);
    },
  );
});

import { expect, test } from 'vitest';
import { openApp } from '../support/app.ts';

const MAX = 100;

test('runs of crons create at most a hundred crons, with a warning before that', async () => {
  const one_process = 'the warning is in the log of the process';
  await using server = await openApp({ graphs: ['schedules-itself'], one_process });
  const run = async (cron_id: string) => {
    const { body } = await server.post(`/runs/crons/${cron_id}/trigger`);
    return (await server.get(`/threads/${body.thread_id}/runs/${body.run_id}/join`)).body;
  };
  const assistant_id = 'schedules-itself';
  const cron = { assistant_id, schedule: '0 0 1 1 *', on_run_completed: 'keep' };
  const of = async (times: number) => {
    const { body } = await server.post('/runs/crons', { ...cron, input: { times } });
    return body.cron_id as string;
  };
  const warnings = () => server.log.filter(({ level, message }) => level === 'warn' && /cron/.test(message));

  expect(await run(await of(2))).toMatchObject({ refused: 0 });
  expect(warnings()).toEqual([]);
  expect(await run(await of(MAX))).toMatchObject({ refused: 2 });
  expect(warnings().length).toBeGreaterThan(0);

  // Other runs and clients are not limited.
  const body = { assistant_id, input: { times: 1 } };
  expect((await server.post('/runs/wait', body)).body).toMatchObject({ refused: 0 });
  const { body: count } = await server.post('/runs/crons/count', {});
  expect(count).toBe(MAX + 3);
});

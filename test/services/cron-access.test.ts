import { Auth } from '@langchain/langgraph-sdk/auth';
import { expect, test } from 'vitest';
import { systemActor } from '../../src/auth/actor.ts';
import { customAuth } from '../../src/auth/custom.ts';
import { authHandlers } from '../../src/auth/handlers.ts';
import { cronServer, settableClock } from '../support/crons.ts';
import { describeEachDatabase } from '../support/databases.ts';

describeEachDatabase('auth handlers of crons', (open) => {
  test('get what the SDK declares: the request as payload, and whose cron it is', async () => {
    await using db = await open();
    const seen: unknown[] = [];
    const auth = new Auth()
      .authenticate(() => 'ann')
      .on('crons:create', ({ value: { payload, schedule, user_id, thread_id } }) => {
        seen.push({ payload, schedule, user_id, thread_id });
      })
      .on('crons:update', ({ value: { cron_id, payload } }) => {
        seen.push({ cron_id, payload });
      });
    const clock = settableClock();
    const { identityOf } = customAuth(authHandlers(auth), { studio: false }, clock);
    const ann = { ...systemActor('r'), ...identityOf({ identity: 'ann', permissions: [] }) };
    const { create, crons } = await cronServer(db, { clock });

    const { cron_id } = await create({ input: { x: 1 } }, null, ann);
    await crons.update(ann, cron_id, { input: { x: 2 } });

    expect(seen).toMatchObject([
      { payload: { input: { x: 1 } }, schedule: '0 * * * *', user_id: 'ann', thread_id: null },
      { cron_id, payload: { input: { x: 2 } } },
    ]);
  });
});

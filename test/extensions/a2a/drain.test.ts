import { expect, test } from 'vitest';
import { message, rpcTo } from '../../support/a2a.ts';
import { openApp } from '../../support/app.ts';
import { closedGate } from '../../support/gate.ts';
import { receiver, TO_RECEIVER } from '../../support/receiver.ts';

test('subscribers hear of the end of a task during a graceful drain before the server has stopped', async () => {
  await using hook = await receiver();
  using task = closedGate();
  using last = closedGate();
  await using server = await openApp({
    graphs: ['held'],
    environment: TO_RECEIVER,
    one_process: 'it stops the server',
  });
  const { result } = await rpcTo(server, 'held')('SendMessage', {
    message: message({ parts: [1], parts_gate: task.file, child_gate: task.file }),
    configuration: { returnImmediately: true, taskPushNotificationConfig: { url: hook.url } },
  });
  expect(result.task.status.state).toMatch(/SUBMITTED|WORKING/);
  const input = { parts: [1], parts_gate: last.file, child_gate: last.file };
  await server.post(`/threads/${await server.thread()}/runs`, { assistant_id: 'held', input });
  const running = async () => (await server.post('/runs/search', { status: 'running' })).body.length;
  await expect.poll(running, { timeout: 60_000 }).toBe(2);

  const stopped = server.app.stop(60_000);
  task.open();
  await hook.came(1);

  expect(hook.received[0]?.body).toMatchObject({ task: { status: { state: 'TASK_STATE_COMPLETED' } } });
  last.open();
  await stopped;
});

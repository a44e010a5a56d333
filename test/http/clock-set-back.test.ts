import { afterEach, describe, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { restoreClock, setClockBack } from '../support/clock-set-back.ts';
import { naming } from '../support/naming.ts';
import { until } from '../support/until.ts';

afterEach(restoreClock);

async function openChat() {
  const server = await openApp({ graphs: ['chat'], one_process: 'a clock that the test sets' });
  const thread_id = await server.thread();
  const turn = (content: string) => ({
    assistant_id: 'chat',
    input: { messages: [{ role: 'user', content }] },
  });
  const texts = (values: { messages: { content: string }[] }) =>
    values.messages.map(({ content }) => content);
  return {
    ...server,
    thread_id,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    say: async (content: string) =>
      texts((await server.post(`/threads/${thread_id}/runs/wait`, turn(content))).body),
    start: async (content: string) =>
      (await server.post(`/threads/${thread_id}/runs`, turn(content))).body.run_id as string,
    state: async () => texts((await server.get(`/threads/${thread_id}/state`)).body.values),
    update: (content: string, checkpoint_id?: string) =>
      server.post(`/threads/${thread_id}/state`, {
        values: { messages: [{ role: 'user', content }] },
        ...(checkpoint_id && { checkpoint_id }),
      }),
  };
}

const ONE = ['one', 'You said: one'];
const TWO = [...ONE, 'two', 'You said: two'];

describe('after the clock was set back', () => {
  test('a run waits in the queue with the reason until the clock passes the newest checkpoint', async () => {
    await using chat = await openChat();
    expect(await chat.say('one')).toEqual(ONE);
    setClockBack(3000);
    const run_id = await chat.start('two');
    const explain = async () => (await chat.get(`/runs/${run_id}/explain`)).body;
    await until('the run is back in the queue', async () => (await explain()).retry_reason !== null);
    expect(await explain()).toMatchObject({
      status: 'pending',
      retry_reason: 'clock behind',
      summary: naming('attempt is 1', 'clock'),
    });
    expect(await chat.state()).toEqual(ONE);
    restoreClock();
    await chat.get(`/threads/${chat.thread_id}/runs/${run_id}/join`);
    expect(await chat.state()).toEqual(TWO);
    expect(await chat.say('three')).toEqual([...TWO, 'three', 'You said: three']);
  });

  test('a run waits while the clock is slightly behind', async () => {
    await using chat = await openChat();
    await chat.say('one');
    setClockBack(300);
    expect(await chat.say('two')).toEqual(TWO);
    expect(await chat.state()).toEqual(TWO);
    expect(chat.log.filter(({ level }) => level === 'warn')).toEqual([]);
  });

  test('a state update is refused with the time after which it succeeds, and changes nothing', async () => {
    await using chat = await openChat();
    setClockBack(30_000);
    await chat.say('one');
    restoreClock();
    const [older] = (await chat.get(`/threads/${chat.thread_id}/history`)).body;
    await chat.say('two');
    setClockBack(60_000);
    for (const checkpoint_id of [undefined, older.checkpoint.checkpoint_id]) {
      const refused = await chat.update('lost', checkpoint_id);
      expect(refused.status).toBe(503);
      // Past the newest checkpoint of the thread, not only past the one that is updated.
      expect(Number(refused.headers['retry-after'])).toBeGreaterThan(40);
      expect(refused.body.detail).toContain('NTP');
    }
    expect(await chat.state()).toEqual(TWO);
    restoreClock();
    expect((await chat.update('kept')).status).toBe(200);
    expect(await chat.state()).toEqual([...TWO, 'kept']);
  });
});

import { expect, test } from 'vitest';
import type { Db } from '../../src/db/db.ts';
import { openChannel } from '../../src/db/engines/postgres-channel.ts';
import { type Notifications, notifications } from '../../src/storage/notifications.ts';
import { describePostgresServer } from '../support/databases.ts';
import { naming } from '../support/naming.ts';
import { busOf, directUrl } from '../support/postgres-bus.ts';
import { PostgresRelay } from '../support/postgres-relay.ts';
import { until } from '../support/until.ts';

describePostgresServer('notifications', (open) => {
  test('are received by processes of the same schema only', async () => {
    await using db = await open();
    await using elsewhere = await open();
    await using one = await busOf(db, 'one');
    await using two = await busOf(db, 'two');
    await using stranger = await busOf(elsewhere, 'stranger');
    const heard: string[] = [];
    two.bus.on('run.cancelled', (run_id) => void heard.push(`two: ${run_id}`));
    stranger.bus.on('run.cancelled', (run_id) => void heard.push(`stranger: ${run_id}`));
    await until('the first knows of the second', () => {
      one.bus.emit('run.cancelled', 'run');
      return heard.length > 0;
    });
    expect(new Set(heard)).toEqual(new Set(['two: run']));
    expect([one, two, stranger].map(({ bus }) => bus.poll_rate)).toEqual(['rare', 'rare', 'rare']);
  });

  test('that lose their connection get a new one, and the process polls once', async () => {
    await using db = await open();
    await using relay = await PostgresRelay.listen(await directUrl(db));
    await using one = await busOf(db, 'one', { listen_url: relay.url });
    const polls: string[] = [];
    one.bus.on('reconnected', () => void polls.push('once'));
    relay.cut();
    await until('it knows of the loss', () => one.bus.poll_rate === 'usual');
    relay.mend();
    await until('it polls', () => polls.length > 0);
    expect(one.log.map(({ message }) => message)).toContainEqual(naming('notifications', 'restored'));
    await until('its own messages come back', () => one.bus.poll_rate === 'rare');
  });

  test('that do not arrive make the process poll more often, with one warning', async () => {
    await using db = await open();
    const deaf = { ...(notifications(db) as Notifications), notify: async () => {} };
    await using one = await busOf(db, 'one', { notifications: deaf });
    expect(one.bus.poll_rate).toBe('frequent');
    expect(one.log.map(({ level }) => level)).toEqual(['warn']);
    expect(one.log[0]?.message).toContain('storage.listen_url');
  });

  test('whose connection cannot be opened do not keep the server from starting', async () => {
    await using db = await open();
    await using one = await busOf(db, 'one', { listen_url: 'postgres://postgres@127.0.0.1:1/postgres' });
    expect(one.bus.poll_rate).toBe('usual');
    expect(one.log).toMatchObject([{ level: 'warn', message: naming('notifications', 'reconnecting') }]);
  });

  test('with a silently dead connection get a new one', async () => {
    await using db = await open();
    const name = (await notifications(db)?.channelName()) as string;
    const events: string[] = [];
    await using channel = openChannel({
      url: await directUrl(db),
      name,
      onMessage: (text) => void events.push(text),
      onConnect: () => void events.push('connect'),
      onDisconnect: () => void events.push('disconnect'),
    });
    await channel.tried;
    await channel.notify('one');
    await until('it is heard', () => events.includes('one'));
    channel.reset('nothing comes back');
    await until('there is a new connection', () => events.at(-1) === 'connect' && events.length === 4);
    await channel.notify('two');
    await until('it is heard too', () => events.includes('two'));
    expect(events).toEqual(['connect', 'one', 'disconnect', 'connect', 'two']);
  });
});

test('SQLite has one process and no notifications', async () => {
  const { bus } = await busOf({ dialect: 'sqlite' } as Db, 'one');
  expect(bus.poll_rate).toBe('usual');
});

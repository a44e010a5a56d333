import { expect, test } from 'vitest';
import type { BusEvents } from '../../src/events/bus.ts';
import { decodeMessage, encodeMessages } from '../../src/events/bus-messages.ts';
import type { SharedBus } from '../../src/events/shared-bus.ts';
import { introduced, Wire } from '../support/bus-wire.ts';
import { until } from '../support/until.ts';

/** What a process hears from now on. */
function heard(bus: SharedBus, ...names: (keyof BusEvents)[]): string[] {
  const all: string[] = [];
  for (const name of names) bus.on(name, (...payload) => void all.push([name, ...payload].join(' ')));
  return all;
}

test('a change in one process wakes followers in all processes, once, and local ones immediately', async () => {
  const wire = new Wire();
  const [one, two] = [wire.connect('one'), wire.connect('two')];
  await introduced(wire, 2);
  const heardBy: string[] = [];
  one.onUpdated('run', () => void heardBy.push('one'));
  two.onUpdated('run', () => void heardBy.push('two'));
  one.updated('run');
  expect(heardBy).toEqual(['one']);
  await until('the other process hears it', () => heardBy.includes('two'));
  await introduced(wire, 2);
  expect(heardBy).toEqual(['one', 'two']);
});

test('events of one turn of the event loop are sent as one message with each id once', async () => {
  const wire = new Wire();
  const one = wire.connect('one');
  wire.connect('two');
  await introduced(wire, 2);
  for (let count = 0; count < 100; count += 1) one.updated(`run ${count % 10}`);
  one.emit('run.cancelled', 'run 1');
  await until('it is sent', () => wire.messages.length > 0);
  await introduced(wire, 2);
  expect(wire.messages).toHaveLength(1);
  expect(wire.messages[0]?.updated).toHaveLength(10);
});

test('a process without peers sends only its introduction', async () => {
  const wire = new Wire();
  const one = wire.connect('one');
  one.updated('run');
  one.emit('run.cancelled', 'run');
  await introduced(wire, 1);
  expect(wire.messages).toEqual([]);
});

test('changes are sent only while a process watches them', async () => {
  const wire = new Wire();
  const [one, two] = [wire.connect('one'), wire.connect('two')];
  await introduced(wire, 2);
  one.emit('rows.changed', 'run', 'r1', '');
  await introduced(wire, 2);
  expect(wire.messages).toEqual([]);

  const ids: string[] = [];
  const watching = two.on('rows.changed', (_kind, id) => void ids.push(id));
  const presences = () => wire.sent.flatMap((text) => decodeMessage(text)?.presence ?? []);
  await until('it tells that it watches', () => presences().at(-1)?.watches === true);
  await introduced(wire, 2);
  one.emit('rows.changed', 'run', 'r2', '');
  await until('the other process hears it', () => ids.length > 0);

  watching[Symbol.dispose]();
  await until('it tells that it does not', () => presences().at(-1)?.watches === undefined);
  await introduced(wire, 2);
  one.emit('rows.changed', 'run', 'r3', '');
  await introduced(wire, 2);
  expect(ids).toEqual(['r2']);
  expect(wire.messages).toHaveLength(1);
});

test('an update for one audience reaches no other', async () => {
  const wire = new Wire();
  const [one, two] = [wire.connect('one'), wire.connect('two')];
  await introduced(wire, 2);
  const ids: string[] = [];
  for (const id of ['local', 'others']) {
    one.onUpdated(id, () => void ids.push(`one: ${id}`));
    two.onUpdated(id, () => void ids.push(`two: ${id}`));
  }
  one.updated('local', 'local');
  one.updated('others', 'others');
  await until('the other process hears its own', () => ids.includes('two: others'));
  expect(ids).toEqual(['one: local', 'two: others']);
});

test('a cancel is sent to every process, and new work is offered to one process', async () => {
  const wire = new Wire();
  const [api, first, second] = [wire.connect('api', 0), wire.connect('first'), wire.connect('second')];
  await introduced(wire, 3);
  const events = [first, second].map((bus) => heard(bus, 'run.cancelled', 'delivery.queued', 'run.ready'));
  const own = heard(api, 'run.cancelled');
  api.emit('delivery.queued');
  api.emit('run.ready');
  api.emit('run.cancelled', 'run');
  await until('both hear of the cancel', () => events.every((all) => all.includes('run.cancelled run')));
  expect(events.flat().toSorted()).toEqual(['delivery.queued', 'run.cancelled run', 'run.cancelled run']);
  expect(own).toEqual(['run.cancelled run']);
});

test('work that this process takes itself is not announced to others', async () => {
  const wire = new Wire();
  const [one, two] = [wire.connect('one'), wire.connect('two')];
  await introduced(wire, 2);
  const [here, there] = [heard(one, 'schedule.changed'), heard(two, 'schedule.changed', 'run.cancelled')];
  one.emit('schedule.changed');
  one.emit('run.cancelled', 'run');
  await until('a later event has arrived', () => there.length > 0);
  expect([here, there]).toEqual([['schedule.changed'], ['run.cancelled run']]);
});

test('runs are offered to one process in turn first, and then to all others', async () => {
  const wire = new Wire();
  const [api, first, second] = [wire.connect('api', 0), wire.connect('first'), wire.connect('second')];
  await introduced(wire, 3);
  const [to_first, to_second] = [heard(first, 'runs.offered'), heard(second, 'runs.offered')];
  for (let offers = 1; offers <= 4; offers += 1) {
    api.emit('runs.offered', false);
    await until('both hear of it', () => to_first.length === offers && to_second.length === offers);
  }
  const asFirst = (all: string[]) => all.filter((event) => event === 'runs.offered true').length;
  expect([asFirst(to_first), asFirst(to_second)]).toEqual([2, 2]);
});

test('a process that drains or leaves gets no work', async () => {
  const wire = new Wire();
  const [api, first, second] = [wire.connect('api', 0), wire.connect('first'), wire.connect('second')];
  await introduced(wire, 3);
  const sent = wire.sent.length;
  first.takeNothing();
  await until('it has said so', () => wire.sent.length > sent);
  await introduced(wire, 3);
  const [to_first, to_second] = [heard(first, 'runs.offered'), heard(second, 'runs.offered')];
  for (let offers = 1; offers <= 3; offers += 1) {
    api.emit('runs.offered', false);
    await until('the other one hears of it', () => to_second.length === offers);
  }
  expect(to_first).not.toContain('runs.offered true');
  await Promise.all([first.leave(), second.leave()]);
  await introduced(wire, 3);
  const before = wire.messages.length;
  api.updated('run');
  await introduced(wire, 3);
  expect(wire.messages).toHaveLength(before);
});

test('after a reconnect every process polls once', async () => {
  const wire = new Wire();
  const one = wire.connect('one');
  await introduced(wire, 1);
  const all = heard(one, 'reconnected');
  one.onUpdated('run', () => void all.push('run'));
  one.onUpdated('thread', () => void all.push('thread'));
  one.connected();
  expect(all).toEqual(['reconnected', 'run', 'thread']);
});

test('polls are rare only while the process receives its own notifications, and a dead connection is replaced', async () => {
  const wire = new Wire();
  wire.isDropping = true;
  const deaf = wire.connect('deaf', 1, 10);
  await until('the line counts as dead', () => wire.resets > 0);
  expect(deaf.poll_rate).toBe('usual');
  wire.isDropping = false;
  const well = wire.connect('well');
  await until('its own message is back', () => well.poll_rate === 'rare');
});

test('a message longer than a notification is sent in parts and arrives complete', () => {
  const updated = Array.from({ length: 1000 }, (_, index) =>
    `0198c0de-0000-7000-8000-${index}`.padEnd(36, '0'),
  );
  const events = updated.slice(0, 50).map((id) => ({ name: 'run.cancelled' as const, payload: [id] }));
  const texts = encodeMessages({ from: 'one', presence: { is_worker: true, slots: 1 }, events, updated });
  expect(texts.length).toBeGreaterThan(5);
  expect(Math.max(...texts.map((text) => Buffer.byteLength(text)))).toBeLessThan(8000);
  const parts = texts.map((text) => decodeMessage(text));
  expect(parts.flatMap((part) => part?.updated ?? [])).toEqual(updated);
  expect(parts.flatMap((part) => part?.events ?? [])).toEqual(events);
  expect(parts.filter((part) => part?.presence)).toHaveLength(1);
});

test('invalid messages and messages of newer versions are ignored', () => {
  expect(decodeMessage('')).toBeUndefined();
  expect(decodeMessage('[]')).toBeUndefined();
  expect(decodeMessage('{"from":1}')).toBeUndefined();
  const newer =
    '{"from":"one","v":9,"events":[{"name":"what.is.new","payload":["x"]},{"no":1}],"updated":["a",2]}';
  const wire = new Wire();
  const bus = wire.connect('two');
  expect(() => bus.received(newer)).not.toThrow();
  expect(decodeMessage(newer)?.updated).toEqual(['a']);
});

test.each([
  ['error', []],
  ['rows.changed', ['run']],
  ['lines.stored', ['a text']],
  ['toString', []],
])('a forged notification such as %s does not crash the server', (name, payload) => {
  const bus = new Wire().connect('two');
  bus.on('rows.changed', (_kind, ids) => void ids.split(','));
  bus.on('lines.stored', ({ lines }) => void lines.length.toFixed());
  expect(() => bus.received(JSON.stringify({ from: 'one', events: [{ name, payload }] }))).not.toThrow();
});

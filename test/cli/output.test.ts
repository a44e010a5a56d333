import { expect, test } from 'vitest';
import { jsonLine, readableLine } from '../../src/cli/output.ts';
import { failureForLog } from '../../src/core/failure.ts';
import { type LogLine, logger } from '../../src/core/logger.ts';
import { ODD_THROWS } from '../support/odd-throws.ts';

const NOON = Date.UTC(2026, 10, 21, 12, 0, 0);
const line = (message: string, fields = {}) => ({ level: 'info', message, fields }) as const;

test('a JSON line has time, level, message and the fields', () => {
  expect(JSON.parse(jsonLine(line('run ended', { run_id: 'r1', ms: 5 }), NOON))).toEqual({
    time: '2026-11-21T12:00:00.000Z',
    level: 'info',
    message: 'run ended',
    run_id: 'r1',
    ms: 5,
  });
});

test('no field can pass itself off as time, level or message', () => {
  const { time, level, message } = JSON.parse(
    jsonLine(line('real', { level: 'x', message: 'y', time: 'z' }), NOON),
  );

  expect({ time, level, message }).toEqual({
    time: '2026-11-21T12:00:00.000Z',
    level: 'info',
    message: 'real',
  });
});

test('whatever a field holds, the line is written: errors with their causes, big numbers, circles', () => {
  const circle: Record<string, unknown> = {};
  circle['self'] = circle;
  const error = new Error('outer', { cause: new Error('inner') });

  const written = JSON.parse(jsonLine(line('odd', { error, big: 1n, circle }), NOON));

  expect(written.error).toMatch(/^Error: outer\n[\s\S]*caused by Error: inner\n/);
  expect(written.big).toBe('1');
  expect(written.circle.self).toBe('[circle]');
});

test('a value that is named twice is written twice', () => {
  const shared = { a: 1 };

  expect(JSON.parse(jsonLine(line('same', { one: shared, two: shared }), NOON))).toMatchObject({
    one: shared,
    two: shared,
  });
});

test('a readable line has the time of day and name=value pairs, quoted when they are more than a word', () => {
  expect(
    readableLine(line('ready', { url: 'http://127.0.0.1:1', graphs: 'a, b', none: undefined }), NOON, {
      color: false,
    }),
  ).toBe('12:00:00 info  ready url=http://127.0.0.1:1 graphs="a, b"');
});

test('a readable line shows the stack of an error below', () => {
  const [head, ...stack] = readableLine(line('broke', { error: new Error('why') }), NOON, {
    color: false,
  }).split('\n');

  expect(head).toBe('12:00:00 info  broke');
  expect(stack[0]).toBe('    Error: why');
  expect(stack.length).toBeGreaterThan(1);
});

test('user data can neither forge a line nor drive the terminal', () => {
  const hostile = 'x\n12:00:00 error forged\u001b[2J';

  const written = readableLine(line(hostile, { name: hostile, error: new Error(hostile) }), NOON, {
    color: false,
  });

  expect(written).not.toContain('\u001b');
  expect(written.split('\n').filter((each) => each.startsWith('12:00:00'))).toHaveLength(1);
});

test('colour is only in readable lines that ask for it', () => {
  expect(readableLine(line('hello', { a: 1 }), NOON, { color: true })).toContain('\u001b[36minfo');
  expect(readableLine(line('hello', { a: 1 }), NOON, { color: false })).toBe('12:00:00 info  hello a=1');
});

test('whatever an error of user code holds, both kinds of line are written', () => {
  for (const make of Object.values(ODD_THROWS)) {
    const fields = { run_id: 'r1', error: make() };
    const lines: string[] = [];
    for (const render of [jsonLine, readable])
      logger('info', (each) => lines.push(render(each, NOON))).error('run failed', fields);
    expect(lines).toEqual([expect.stringContaining('run failed'), expect.stringContaining('run failed')]);
    expect(lines.every((each) => each.includes('r1'))).toBe(true);
  }
});

test('no line has the password of an address, wherever it is', () => {
  const address = 'postgres://joe:hunter2@db/agents';
  const error = new Error(`no ${address}`, { cause: new Error(`of ${address}`) });
  const fields = { error, reason: `lost ${address}`, url: address, inner: { address } };

  for (const render of [jsonLine, readable]) {
    const written = render(line(`cannot reach ${address}`, fields), NOON);
    expect(written).not.toContain('hunter2');
    expect(written.split('postgres://***@db/agents')).toHaveLength(7);
  }
});

function readable(each: LogLine, now: number): string {
  return readableLine(each, now, { color: false });
}

test('a failure of a run is written as its clients read it, with the places where it was thrown', () => {
  const failure = new TypeError('no /srv/app/data/places.json', {
    cause: new Error('in /srv/app/data/x.json'),
  });

  const written = JSON.parse(jsonLine(line('run failed', { error: failureForLog(failure) }), NOON));

  expect(written.error).toMatch(/^TypeError: no places\.json\n {4}at .*output\.test\.ts:\d+:\d+/);
  expect(written.error).toMatch(/\ncaused by Error: in x\.json\n {4}at /);
});

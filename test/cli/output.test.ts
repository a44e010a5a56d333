import { expect, test } from 'vitest';
import { lineLogger } from '../../src/cli/output.ts';
import { failureForLog } from '../../src/core/failure.ts';
import { logger } from '../../src/core/json-logger.ts';
import { ODD_THROWS } from '../support/odd-throws.ts';
import { JSON_LINES, READABLE, writtenLine } from '../support/written-line.ts';

const NOON = Date.UTC(2026, 10, 21, 12, 0, 0);
const line = (message: string, fields = {}) => ({ level: 'info', message, fields }) as const;
const json = async (message: string, fields = {}) =>
  JSON.parse(await writtenLine(JSON_LINES, line(message, fields), NOON));
const readable = (message: string, fields = {}, color = false) =>
  writtenLine({ ...READABLE, color }, line(message, fields), NOON);

test('a JSON log line has time, level, message and the fields', async () => {
  expect(await json('run ended', { run_id: 'r1', ms: 5 })).toEqual({
    time: '2026-11-21T12:00:00.000Z',
    level: 'info',
    message: 'run ended',
    run_id: 'r1',
    ms: 5,
  });
});

test('no field of a log line can overwrite time, level or message', async () => {
  const { time, level, message } = await json('real', { level: 'x', message: 'y', time: 'z' });

  expect({ time, level, message }).toEqual({
    time: '2026-11-21T12:00:00.000Z',
    level: 'info',
    message: 'real',
  });
});

test('a log line is written for any field: errors with causes, big integers, circular values', async () => {
  const circle: Record<string, unknown> = {};
  circle['self'] = circle;
  const error = new Error('outer', { cause: new Error('inner') });

  const written = await json('odd', { error, big: 1n, circle });

  expect(written.error).toMatch(/^Error: outer\n[\s\S]*caused by Error: inner\n/);
  expect(written.big).toBe('1');
  expect(written.circle.self).toBe('[circle]');
});

test('a log field that throws when it is read is marked unreadable, and the other fields are written', async () => {
  const trap = () => {
    throw new Error('trapped');
  };
  const getter = Object.defineProperty({}, 'own', { get: trap, enumerable: true });

  expect(await json('odd', { run_id: 'r1', getter, odd: { toJSON: trap } })).toMatchObject({
    run_id: 'r1',
    getter: '[unreadable]',
    odd: '[unreadable]',
  });
});

test('a value that occurs twice in a log line is written twice', async () => {
  const shared = { a: 1 };

  expect(await json('same', { one: shared, two: shared })).toMatchObject({ one: shared, two: shared });
});

test('a logger with fields writes them on every line, masked', () => {
  const lines: string[] = [];
  const own = logger('info', { write: (text) => lines.push(text) });
  own.with({ run_id: 'r1', url: 'http://joe:hunter2@db' }).warn('slow', { ms: 5 });
  own.warn('plain');

  expect(lines.map((each) => JSON.parse(each))).toEqual([
    {
      time: expect.any(String),
      level: 'warn',
      message: 'slow',
      run_id: 'r1',
      url: 'http://***@db',
      ms: 5,
    },
    { time: expect.any(String), level: 'warn', message: 'plain' },
  ]);
});

test('log lines below the level are not written, and level silent writes none', () => {
  const lines: string[] = [];
  for (const level of ['warn', 'silent'] as const) {
    const own = logger(level, { write: (text) => lines.push(JSON.parse(text).message) });
    own.debug('one');
    own.info('two');
    own.warn(`three at ${level}`);
    own.error(`four at ${level}`);
  }

  expect(lines).toEqual(['three at warn', 'four at warn']);
});

test('an error of the log destination does not reach the caller', () => {
  const broken = () => {
    throw new Error('disk full');
  };

  expect(() => logger('info', { write: broken }).info('lost')).not.toThrow();
});

test('a readable log line has the time of day, level and message, then the fields as JSON', async () => {
  expect(await readable('ready', { url: 'http://127.0.0.1:1', graphs: 'a, b', none: undefined })).toBe(
    '[12:00:00] INFO: ready {"url":"http://127.0.0.1:1","graphs":"a, b"}',
  );
});

test('a readable log line is followed by the stack of its error', async () => {
  const [head, ...stack] = (await readable('broke', { run_id: 'r1', error: new Error('why') })).split('\n');

  expect(head).toBe('[12:00:00] INFO: broke {"run_id":"r1"}');
  expect(stack[0]).toBe('    error: Error: why');
  expect(stack[1]).toMatch(/^ {8}at .*output\.test\.ts:\d+:\d+/);
});

test('the stack below a readable log line shows the code that threw', async () => {
  const lines: string[] = [];
  const format = { ...READABLE, code_of: import.meta.dirname };
  const own = await lineLogger(format, (text) => lines.push(text));
  own.error('broke', { error: new Error('why') });

  expect(lines.join('')).toContain('    error: Error: why\n        at output.test.ts:');
  expect(lines.join('')).toMatch(
    /\n {4}> \d+ \| {3}own\.error\('broke', \{ error: new Error\('why'\) \}\);\n/,
  );
});

test('user data in a log line can neither forge a line nor drive the terminal', async () => {
  const hostile = 'x\n[12:00:00] ERROR: forged\u001b[2J\u009b2J';
  const fields = { name: hostile, inner: { hostile }, [hostile]: 1, error: new Error(hostile) };

  const written = await readable(hostile, fields);

  expect(written).not.toContain('\u001b');
  expect(written).not.toContain('\u009b');
  expect(written.split('\n').filter((each) => each.startsWith('[12:00:00]'))).toHaveLength(1);
});

test('only readable log lines are coloured, and only on request', async () => {
  expect(await readable('hello', { a: 1 }, true)).toContain('\u001b[32mINFO');
  expect(await readable('hello', { a: 1 })).toBe('[12:00:00] INFO: hello {"a":1}');
});

test.each([JSON_LINES, READABLE])('a log line is written for any error of user code: %j', async (format) => {
  for (const make of Object.values(ODD_THROWS)) {
    const fields = { run_id: 'r1', error: make() };
    const written = await writtenLine(format, { level: 'error', message: 'run failed', fields });
    expect(written).toContain('run failed');
    expect(written).toContain('r1');
  }
});

test('no log line contains the password of a URL, in any position', async () => {
  const address = 'postgres://joe:hunter2@db/agents';
  const error = new Error(`no ${address}`, { cause: new Error(`of ${address}`) });
  const fields = { error, reason: `lost ${address}`, url: address, inner: { address } };

  for (const format of [JSON_LINES, READABLE]) {
    const written = await writtenLine(format, line(`cannot reach ${address}`, fields), NOON);
    expect(written).not.toContain('hunter2');
    expect(written.split('postgres://***@db/agents')).toHaveLength(7);
  }
});

test('a failed run is logged as clients see it, with the source locations of the error', async () => {
  const failure = new TypeError('no /srv/app/data/places.json', {
    cause: new Error('in /srv/app/data/x.json'),
  });

  const written = await json('run failed', { error: failureForLog(failure) });

  expect(written.error).toMatch(/^TypeError: no places\.json\n {4}at .*output\.test\.ts:\d+:\d+/);
  expect(written.error).toMatch(/\ncaused by Error: in x\.json\n {4}at /);
});

test('output of a graph keeps its line breaks in a terminal and names its node and run', async () => {
  const written = await readable('{\n  a: 1\n}\u001b[31m', {
    ...{ run_id: 'r1', thread_id: 't1', assistant_id: 'a1', graph: 'g', attempt: 1, trace_id: 'r1' },
    ...{ node: 'ask', at: '/p/agent.ts:3:5', source: 'console' },
  });

  expect(written).toBe(
    '[12:00:00] INFO: {\n      a: 1\n    } [31m {"run_id":"r1","node":"ask","at":"/p/agent.ts:3:5"}',
  );
});

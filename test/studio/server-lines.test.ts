import { resolve } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';

interface Line {
  readonly key: string;
  readonly message: string;
}
type Read = (event: { event: string; data: string }) => { lines: readonly Line[] };

// By its path: what it imports is of browsers, whose types are not those of the server.
const module = resolve(import.meta.dirname, '../../studio/src/screens/system/server-lines.ts');
let serverLines: () => Read;

beforeAll(async () => {
  vi.stubGlobal('location', new URL('http://127.0.0.1/studio/system'));
  ({ serverLines } = (await import(module)) as { serverLines: () => Read });
});
afterAll(() => vi.unstubAllGlobals());

const PROCESS = { host: 'a-container', pid: 1 };
const ready = (since: string) => ({ event: 'ready', data: JSON.stringify({ ...PROCESS, since }) });
const line = (seq: number, message: string) => ({
  event: 'log',
  data: JSON.stringify({ ...PROCESS, seq, time: '', level: 'info', message, fields: {} }),
});

test('log lines of a restarted container with the same process id are kept apart from the earlier ones', () => {
  const read = serverLines();
  const events = [
    ...[ready('2026-01-01T00:00:00Z'), line(1, 'started'), line(2, 'served')],
    ...[ready('2026-01-01T00:05:00Z'), line(1, 'started again'), line(1, 'started again')],
  ];
  const lines = events.flatMap((event) => read(event).lines);
  expect(lines.map(({ message }) => message)).toEqual([
    'started',
    'served',
    expect.stringContaining('Process 1 on a-container answers now'),
    'started again',
  ]);
  expect(new Set(lines.map(({ key }) => key)).size).toBe(lines.length);
});

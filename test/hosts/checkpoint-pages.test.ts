import { expect, test } from 'vitest';
import { checkpointPage, fromPage } from '../../src/hosts/protocol/checkpoints.ts';
import type { StoredValue } from '../../src/storage/checkpoints/delta-blobs.ts';
import type { StoredCheckpoint } from '../../src/storage/checkpoints/rows.ts';

function value(version: string, data: unknown, more: Partial<StoredValue> = {}): StoredValue {
  const bytes = new TextEncoder().encode(JSON.stringify(data));
  return {
    version,
    type: 'json',
    bytes,
    appends: 0,
    keyframe: { version, bytes: bytes.length },
    ...more,
  };
}

/** Checkpoints with these values by channel, newest first. */
function checkpoints(...states: Record<string, StoredValue>[]): StoredCheckpoint[] {
  return states.map((values, n) => ({
    thread_id: 'thread',
    ns: '',
    checkpoint_id: `checkpoint ${n}`,
    parent_id: null,
    checkpoint: '{}',
    versions: JSON.stringify(
      Object.fromEntries(Object.entries(values).map(([channel, { version }]) => [channel, version])),
    ),
    metadata: '{}',
    writes: [],
    value: (channel, version) => (values[channel]?.version === version ? values[channel] : undefined),
  }));
}

function valuesOf(found: readonly StoredCheckpoint[]) {
  return found.map(({ versions, value: valueAt }) =>
    Object.entries<string>(JSON.parse(versions)).map(([channel, version]) => valueAt(channel, version)),
  );
}

const messages = (count: number) => Array.from({ length: count }, (_, n) => ({ content: `message ${n}, ü` }));
const sent = (page: ReturnType<typeof checkpointPage>) =>
  page.checkpoints.map(({ values }) => values.map(({ bytes, begins }) => [bytes?.length, begins]));

test('values that checkpoints of a page share are sent once to a graph host, and arrive complete', () => {
  const settings = value('s1', { language: 'de' });
  const found = checkpoints(
    { messages: value('m3', messages(3)), settings },
    { messages: value('m2', messages(2)), settings },
    { messages: value('m1', messages(1)), settings },
  );
  const page = checkpointPage(found);
  expect(sent(page).map(([list, rest]) => [list?.[0] !== undefined, rest?.[0] !== undefined])).toEqual([
    [true, true],
    [false, false],
    [false, false],
  ]);
  expect(valuesOf(fromPage(page))).toEqual(valuesOf(found));
});

test.each([
  ['the empty list before a longer one', value('2', messages(1)), value('1', [])],
  ['a list of which an element was changed', value('2', messages(2)), value('1', [{ content: 'other' }])],
  ['a text that begins another', value('2', 'ab'), value('1', 'a')],
  ['a number that begins another', value('2', 12), value('1', 1)],
  ['a list that is longer than the newer one', value('2', messages(1)), value('1', messages(2))],
  ['a list of another format', value('2', messages(2)), value('1', messages(1), { type: 'other' })],
  [
    'a value that cannot be read',
    value('2', messages(2)),
    value('1', null, { bytes: new Uint8Array(), damage: 'a part of it is missing' }),
  ],
  [
    'the list after one that cannot be read',
    value('2', [], { bytes: new Uint8Array(), damage: 'lost' }),
    value('1', []),
  ],
])('%s is sent to a graph host as a whole', (_what, newer, older) => {
  const found = checkpoints({ channel: newer }, { channel: older });
  const page = checkpointPage(found);
  expect(sent(page)[1]).toEqual([[older.bytes.length, undefined]]);
  expect(valuesOf(fromPage(page))).toEqual(valuesOf(found));
});

test('a missing value in a checkpoint does not break values shared with an earlier one', () => {
  const found = checkpoints(
    { messages: value('m2', messages(2)) },
    { other: value('o', 1) },
    { messages: value('m1', messages(1)) },
  );
  expect(valuesOf(fromPage(checkpointPage(found)))).toEqual(valuesOf(found));
});

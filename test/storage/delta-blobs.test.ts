import { expect, test } from 'vitest';
import {
  type BlobRow,
  decodeVersion,
  encodeVersion,
  type StoredValue,
} from '../../src/storage/checkpoints/delta-blobs.ts';
import { naming } from '../support/naming.ts';

/** What is stored of one channel: each version written on top of the one before, as an attempt does it. */
class Channel {
  readonly rows = new Map<string, BlobRow>();
  #last: StoredValue | undefined;
  #count = 0;

  write(value: unknown, type = 'json'): BlobRow {
    this.#count += 1;
    const bytes = value instanceof Uint8Array ? value : Buffer.from(JSON.stringify(value));
    const { row, value: stored } = encodeVersion(
      this.#last,
      { version: `v${this.#count}`, type, bytes },
      'c',
    );
    this.rows.set(row.version, row);
    this.#last = stored;
    return row;
  }

  /** As another attempt finds it. */
  reopened(): this {
    this.#last = decodeVersion(this.rows, `v${this.#count}`);
    return this;
  }

  text(version = `v${this.#count}`): string {
    return Buffer.from(decodeVersion(this.rows, version)?.bytes ?? []).toString();
  }

  get size(): number {
    return [...this.rows.values()].reduce((sum, row) => sum + row.value.length, 0);
  }

  /** How many rows the newest version is put together from. */
  get depth(): number {
    let depth = 0;
    for (let at: string | null = `v${this.#count}`; at !== null; depth++)
      at = this.rows.get(at)?.base_version ?? null;
    return depth;
  }
}

function message(n: number): object {
  return { id: n, text: `message ${n}: ${'x'.repeat(100)}` };
}

function messages(count: number): object[] {
  return Array.from({ length: count }, (_, n) => message(n));
}

test('a list that grew is stored as what was appended', () => {
  const channel = new Channel();
  channel.write(messages(5));
  expect(channel.write(messages(6))).toMatchObject({ base_version: 'v1', appends: 1 });
  const row = channel.write(messages(8));
  expect(row.base_version).toBe('v2');
  expect(Buffer.from(row.value).toString()).toBe(
    `${JSON.stringify(message(6))},${JSON.stringify(message(7))}`,
  );
  expect(JSON.parse(channel.text('v1'))).toEqual(messages(5));
  expect(JSON.parse(channel.text('v2'))).toEqual(messages(6));
  expect(JSON.parse(channel.text('v3'))).toEqual(messages(8));
});

test('every version of a long list is read as written, from few rows and at most twice its size', () => {
  const channel = new Channel();
  for (let count = 1; count <= 300; count++) {
    channel.write(messages(count));
    if (count % 7 === 0) channel.reopened();
  }
  for (let count = 1; count <= 300; count++) {
    expect(channel.text(`v${count}`)).toBe(JSON.stringify(messages(count)));
  }
  expect(channel.depth).toBeLessThanOrEqual(300 / 16 + 16);
  expect(channel.size).toBeLessThan(2 * channel.text().length);
});

test.each([
  ['an element changed in place', () => messages(9).with(3, { id: 3, text: 'changed' })],
  [
    'an element changed to one as long, and another came',
    () => [...messages(8).with(3, { ...message(3), id: 9 }), message(8)],
  ],
  [
    'the last element changed and another came',
    () => [...messages(7), { id: 7, text: 'changed' }, message(8)],
  ],
  ['an element was removed', () => messages(8).slice(1)],
  ['an element came in front', () => [message(9), ...messages(8)]],
  ['a number grew at its end', () => [...messages(7), { id: 70 }]],
])('the whole list is stored when %s', (_, next) => {
  const channel = new Channel();
  channel.write(messages(8));
  expect(channel.write(next())).toMatchObject({ base_version: null, appends: 0 });
  expect(JSON.parse(channel.text())).toEqual(next());
});

test('a list of numbers is not confused with a longer one that starts the same', () => {
  const channel = new Channel();
  const numbers = Array.from({ length: 100 }, (_, n) => n + 1000);
  channel.write(numbers);
  expect(channel.write([...numbers.slice(0, -1), 10990, 1])).toMatchObject({ base_version: null });
  expect(channel.write([...numbers.slice(0, -1), 10990, 1, 2])).toMatchObject({ base_version: 'v2' });
});

test('a value that did not change is not stored again', () => {
  const channel = new Channel();
  const document = { title: 't', body: 'x'.repeat(1000) };
  channel.write(document);
  for (let n = 0; n < 40; n++) expect(channel.write(document).value).toHaveLength(0);
  expect(channel.reopened().text()).toBe(JSON.stringify(document));
  channel.write({ ...document, title: 'u' });
  expect(JSON.parse(channel.text())).toEqual({ ...document, title: 'u' });
});

test('a list that stayed unchanged can be appended to again', () => {
  const channel = new Channel();
  for (const count of [4, 4, 5, 5, 5, 6]) channel.write(messages(count));
  for (let count = 6; count < 40; count += 2) {
    channel.write(messages(count));
    channel.write(messages(count));
  }
  expect(JSON.parse(channel.reopened().text())).toEqual(messages(38));
});

test('a value that is small, of another type, or has more than doubled is stored whole', () => {
  const channel = new Channel();
  channel.write([1]);
  expect(channel.write([1, 2])).toMatchObject({ base_version: null });
  expect(channel.write([1, 2, ...messages(3)])).toMatchObject({ base_version: null });
  expect(channel.write([1, 2, ...messages(30)])).toMatchObject({ base_version: null });
  expect(channel.write(Buffer.from(JSON.stringify([1, 2, ...messages(31)])), 'bytes')).toMatchObject({
    base_version: null,
  });
  expect(channel.write({ list: messages(40) })).toMatchObject({ base_version: null });
});

test('a value with a missing part is damaged, not a shorter value', () => {
  const channel = new Channel();
  channel.write(messages(5));
  channel.write(messages(6));
  const [first, second] = [...channel.rows.values()] as [BlobRow, BlobRow];
  const damaged = (rows: readonly BlobRow[]) =>
    decodeVersion(new Map(rows.map((row) => [row.version, row])), 'v2');

  expect(damaged([second])).toMatchObject({ damage: naming('missing'), bytes: new Uint8Array() });
  const sealed = { ...first, damage: 'it cannot be decrypted', value: new Uint8Array() };
  expect(damaged([sealed, second])).toMatchObject({ damage: 'it cannot be decrypted' });
  expect(damaged([{ ...first, base_version: 'v2' }, second])).toMatchObject({
    damage: naming('missing'),
  });
});

test('nothing is appended to a value that is damaged', () => {
  const channel = new Channel();
  channel.write(messages(5));
  channel.write(messages(6));
  channel.rows.delete('v1');
  expect(channel.reopened().write(messages(7))).toMatchObject({ base_version: null });
});

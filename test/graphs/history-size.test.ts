import { Annotation, type BaseCheckpointSaver, DeltaChannel, START, StateGraph } from '@langchain/langgraph';
import { expect, test } from 'vitest';
import { InvalidInput } from '../../src/core/errors.ts';
import { Checkpointer } from '../../src/graphs/checkpointer/checkpointer.ts';
import type { CheckpointQuery } from '../../src/storage/checkpoints/find.ts';
import type { StoredCheckpoint } from '../../src/storage/checkpoints/rows.ts';
import { naming } from '../support/naming.ts';

const MB = 1_000_000;

interface Stored {
  /** Of one state. */
  readonly bytes: number;
  readonly stored: number;
  readonly limit: number;
  /** The text is not stored with its state, but as a write at the state before. */
  readonly isDelta?: boolean;
}

/** What a reader of states asks storage for that has `stored` states of this size, and how many of them it gets. */
async function read({ bytes, stored, limit, isDelta = false }: Stored) {
  const value = { version: '1', type: 'json', bytes: Buffer.from(JSON.stringify('x'.repeat(bytes - 2))) };
  const write = { task_id: 'task', channel: 'text', type: value.type, value: value.bytes };
  const idOf = (n: number) => `1f000000-0000-6000-8000-${String(n).padStart(12, '0')}`;
  const checkpoint = JSON.stringify({ v: 4, ts: '2026-01-01T00:00:00.000Z', versions_seen: {} });
  const states = Array.from({ length: stored }, (_, n) => {
    const at = { thread_id: 't', ns: '', checkpoint_id: idOf(stored - n), parent_id: null };
    const texts = { checkpoint, versions: '{"text":"1"}', metadata: '{}' };
    const found = isDelta ? undefined : value;
    return { ...at, ...texts, writes: [], value: () => found } as unknown as StoredCheckpoint;
  });
  const asked: number[] = [];
  const find = async ({ before_id = '9', limit: most = stored }: CheckpointQuery) => {
    asked.push(most);
    return states.filter(({ checkpoint_id }) => checkpoint_id < before_id).slice(0, most);
  };
  const ancestors = async () => [{ ...states[0], writes: [write] }];
  const access = { find, ancestors };
  const { checkpointer } = new Checkpointer({ access, thread_id: 't' } as never).lenientReader();
  const text = new DeltaChannel((_: string, writes: string[]) => writes.at(-1) ?? '', {
    initialValueFactory: () => '',
  });
  const graph = new StateGraph(Annotation.Root({ text: isDelta ? (text as never) : Annotation<string>() }))
    .addNode('say', () => ({}))
    .addEdge(START, 'say')
    .compile({ checkpointer: checkpointer as unknown as BaseCheckpointSaver });
  let got = 0;
  const failure: unknown = await (async () => {
    for await (const _ of graph.getStateHistory({ configurable: { thread_id: 't' } }, { limit })) got += 1;
  })().catch((error: unknown) => error);
  return { asked, got, failure };
}

test('a history too large for one response is refused with the limit that fits', async () => {
  const { failure, got } = await read({ bytes: 10 * MB, stored: 8, limit: 1000 });
  expect(failure).toBeInstanceOf(InvalidInput);
  expect((failure as Error).message).toEqual(naming('limit', '7 newest', 70_000_000, 67_108_864));
  expect(got).toBe(6);
});

test('a history of deltas too large for one response is refused like any other', async () => {
  const { failure, got } = await read({ bytes: 10 * MB, stored: 8, limit: 1000, isDelta: true });
  expect(failure).toBeInstanceOf(InvalidInput);
  expect((failure as Error).message).toEqual(naming('limit', '7 newest', 70_000_000, 67_108_864));
  expect(got).toBe(6);
});

test.each([false, true])('a single state of any size can be read (as deltas: %s)', async (isDelta) => {
  const { failure, got } = await read({ bytes: 70 * MB, stored: 2, limit: 1, isDelta });
  expect([failure, got]).toEqual([undefined, 1]);
});

test('a history is read in pages, with fewer states the larger they are', async () => {
  const large = await read({ bytes: 3 * MB, stored: 1000, limit: 1000 });
  expect([large.asked, large.got]).toEqual([[10, 5, 5, 5], 22]);
  const small = await read({ bytes: 100, stored: 1000, limit: 300 });
  expect([small.asked, small.got, small.failure]).toEqual([[10, 40, 160, 90], 300, undefined]);
  expect((await read({ bytes: 100, stored: 12, limit: 1000 })).asked).toEqual([10, 40]);
});

import { expect, test } from 'vitest';
import type { GraphCall } from '../../src/graphs/graph.ts';
import type { StreamMode } from '../../src/schemas/stream-mode.ts';
import { DAMAGES, type Damage, damageValue, SEALED_BY_ANOTHER } from '../support/damaged-values.ts';
import { describeEachDatabase, describeEncrypted, type OpenDatabase } from '../support/databases.ts';
import { GraphThread } from '../support/graph-thread.ts';
import { load } from './support.ts';

const graphs = await load({ odd: './odd-values.ts:graph' });
const odd = await graphs.get('odd', { configurable: {} }, 'threads.create_run');
const MODES: StreamMode[] = [
  'values',
  'updates',
  'debug',
  'tasks',
  'checkpoints',
  'messages-tuple',
  'custom',
];

function damage({ memory }: GraphThread, channel: string, change: Damage['change']) {
  return damageValue(memory.db, { thread_id: memory.thread_id, channel }, change);
}

function tests(open: OpenDatabase, damages: readonly Damage[]) {
  test.each(damages)(
    'a value that is $kind is replaced by its reason, and the rest of the state is returned',
    async ({ change, reason }) => {
      await using db = await open();
      const thread = await GraphThread.of(db, odd);
      await thread.run({ want: 'text' });
      const before = await thread.history();
      await damage(thread, 'out', change);

      const shown = { __unreadable__: reason };
      expect(await thread.values()).toEqual({ want: 'text', out: shown, log: ['text'] });
      expect(await thread.history()).toEqual(
        before.map((state) => ({
          ...state,
          values: { ...(state.values as object), ...('out' in (state.values as object) && { out: shown }) },
        })),
      );
    },
  );

  test.each(damages.slice(0, 1))(
    'runs continue despite a value that is $kind, and replace it',
    async ({ change, reason }) => {
      await using db = await open();
      const thread = await GraphThread.of(db, odd);
      await thread.run({ want: 'text' });
      await damage(thread, 'out', change);
      const shown = { __unreadable__: reason };
      const [start] = (await thread.history()).slice(-2);

      const events = await thread.run({ want: null, count: true }, { stream_mode: MODES });
      expect(events).toContainEqual({
        event: 'values',
        data: expect.objectContaining({ out: shown, length: 1 }),
      });
      // All ways of streaming pass the value on without a look.
      await thread.run({ want: null }, { stream_mode: ['events', 'messages'] });
      await thread.run({ want: null }, { protocol: true });
      expect(await thread.values()).toMatchObject({ out: shown, length: 1, log: ['text'] });
      await thread.run({ want: 'text' });
      expect(await thread.values()).toMatchObject({ out: 'a text', log: ['text', 'text'] });

      // A fork from before the first was made.
      await thread.run(null, { config: { configurable: { ...start?.checkpoint } } as GraphCall['config'] });
      expect(await thread.values()).toMatchObject({ out: 'a text', log: ['text'] });
    },
  );

  test.each(damages.slice(0, 1))(
    'a run that needs a list that is $kind fails with the reason',
    async ({ change, reason }) => {
      await using db = await open();
      const thread = await GraphThread.of(db, odd);
      await thread.run({ want: 'text' });
      await damage(thread, 'log', change);
      const complaint = `The value of channel "log" cannot be read: ${reason}. Set a new value, or resume from an earlier checkpoint.`;

      // One appends to it, the other reads it.
      for (const input of [{ want: 'text' }, { want: null, count: true }]) {
        const failure = await thread.run(input).catch((error: unknown) => error);
        expect(failure).toMatchObject({ name: 'UnreadableValueError', message: complaint });
        expect(await thread.values()).toMatchObject({ out: 'a text', log: { __unreadable__: reason } });
      }

      await thread.update({ log: { __overwrite__: ['anew'] } });
      await thread.run({ want: 'text' });
      expect(await thread.values()).toMatchObject({ log: ['anew', 'text'] });
    },
  );
}

describeEachDatabase('values that cannot be read', (open) => tests(open, DAMAGES));
describeEncrypted('values that cannot be read', (open) => tests(open, [SEALED_BY_ANOTHER]));

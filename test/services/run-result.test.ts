import { expect, test } from 'vitest';
import type { Thread } from '../../src/schemas/threads.ts';
import { resultOf, resultOfThread } from '../../src/services/runs/run-result.ts';

async function* frames(...events: [event: string, data: unknown][]) {
  for (const [i, [event, data]] of events.entries()) yield { seq: i + 1, event, data: JSON.stringify(data) };
}

const thread = (fields: Partial<Thread>) => ({ status: 'idle', values: null, ...fields }) as Thread;

test('a finished run answers with its last values', async () => {
  const result = await resultOf(frames(['metadata', {}], ['values', { n: 1 }], ['values', { n: 2 }]));
  expect(result).toBe('{"n":2}');
});

test('a failed run answers with its error, flat', async () => {
  const error = { error: 'TypeError', message: 'boom' };
  const result = await resultOf(frames(['values', { n: 1 }], ['error', error]));
  expect(JSON.parse(result as string)).toEqual({ __error__: error });
});

test('a cancelled run answers with the values so far', async () => {
  const result = await resultOf(
    frames(['values', { n: 1 }], ['error', { error: 'UserInterrupt', message: '' }]),
  );
  expect(result).toBe('{"n":1}');
});

test('events that were lost are no failure of the run, and leave only what came after them', async () => {
  const lost = { error: 'EventsLost', message: 'Event 2 of this run was lost in a failure of the database.' };
  const last = await resultOf(frames(['values', { n: 1 }], ['error', lost], ['values', { n: 3 }]));
  expect(last).toBe('{"n":3}');
  expect(await resultOf(frames(['values', { n: 1 }], ['error', lost]))).toBeUndefined();
});

test('a state that merely contains the word __interrupt__ is not taken for an interrupt', () => {
  const values = { text: '__interrupt__' };
  expect(resultOfThread(thread({ values }))).toBe(JSON.stringify(values));
});

test('a run that ended long ago answers with what its thread is now', () => {
  const interrupt = { id: 'a', value: 'ok?' };
  const error = { error: 'Error', message: 'boom' };
  expect(resultOfThread(thread({ status: 'error', error }))).toBe(JSON.stringify({ __error__: error }));
  expect(resultOfThread(thread({ status: 'interrupted', interrupts: { task: [interrupt] } }))).toBe(
    JSON.stringify({ __interrupt__: [interrupt] }),
  );
  expect(resultOfThread(thread({ status: 'interrupted', interrupts: {}, values: { n: 1 } }))).toBe('{"n":1}');
  expect(resultOfThread(thread({}))).toBe('{}');
  expect(resultOfThread(undefined)).toBe('{}');
});

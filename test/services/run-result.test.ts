import { expect, test } from 'vitest';
import type { Thread } from '../../src/schemas/threads.ts';
import { resultOf, resultOfThread } from '../../src/services/runs/run-result.ts';

async function* frames(...events: [event: string, data: unknown][]) {
  for (const [i, [event, data]] of events.entries()) yield { seq: i + 1, event, data: JSON.stringify(data) };
}

const thread = (fields: Partial<Thread>) => ({ status: 'idle', values: null, ...fields }) as Thread;

test('the result of a finished run is its last values', async () => {
  const result = await resultOf(frames(['metadata', {}], ['values', { n: 1 }], ['values', { n: 2 }]));
  expect(result).toBe('{"n":2}');
});

test('the result of a failed run is its error, as a flat object', async () => {
  const error = { error: 'TypeError', message: 'boom' };
  const result = await resultOf(frames(['values', { n: 1 }], ['error', error]));
  expect(JSON.parse(result as string)).toEqual({ __error__: error });
});

test('the result of a cancelled run is the values so far', async () => {
  const result = await resultOf(
    frames(['values', { n: 1 }], ['error', { error: 'UserInterrupt', message: '' }]),
  );
  expect(result).toBe('{"n":1}');
});

test('lost events do not fail a run, and its result comes from later events', async () => {
  const lost = { error: 'EventsLost', message: 'Event 2 of this run was lost in a failure of the database.' };
  const last = await resultOf(frames(['values', { n: 1 }], ['error', lost], ['values', { n: 3 }]));
  expect(last).toBe('{"n":3}');
  expect(await resultOf(frames(['values', { n: 1 }], ['error', lost]))).toBeUndefined();
});

test('a state that merely contains the word __interrupt__ is not taken for an interrupt', () => {
  const values = { text: '__interrupt__' };
  expect(resultOfThread(thread({ values }))).toBe(JSON.stringify(values));
});

test('the result of a run whose events have expired is the state of its thread', () => {
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

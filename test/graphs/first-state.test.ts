import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { PROTOCOL_EVENT } from '../../src/events/frame.ts';
import type { GraphEvent } from '../../src/graphs/graph.ts';
import { FirstState } from '../../src/graphs/runtime/first-state.ts';

const VALUES = { event: `${PROTOCOL_EVENT}values`, data: {} };
const of = (method: string, data: unknown = {}) => ({ method, params: { data } });

/** A run whose first state has come and whose first task has this result, as seen in the next turn of the event loop. */
async function afterResult(result: object) {
  const emitted: GraphEvent[] = [];
  const state = new FirstState((event) => emitted.push(event), { flush: () => {} });
  state.before(of('values'), true);
  state.emit(VALUES);
  state.before(of('tasks', { id: '1', name: 'node', ...result }), false);
  await turn();
  return { state, emitted };
}

test.each([
  ['of LangGraph 1.4, without an error', { result: [], interrupts: [] }],
  ['with the error', { result: {}, error: 'Error: no', interrupts: [] }],
])('the first state is not sent if the first node throws, whose result is %s', async (_what, result) => {
  const { state, emitted } = await afterResult(result);
  expect(emitted).toEqual([]);
  state.failed();
  expect(emitted.map(({ event }) => event)).not.toContain(VALUES.event);
});

test('the first state is sent before the update of the first node', async () => {
  const { state, emitted } = await afterResult({ result: [['n', 1]], interrupts: [] });
  state.before(of('updates'), false);
  expect(emitted).toEqual([VALUES]);
});

test('the first state is sent if the first node waits', async () => {
  const { emitted } = await afterResult({ input: {}, triggers: [] });
  expect(emitted).toEqual([VALUES]);
});

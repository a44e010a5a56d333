import { expect, test } from 'vitest';
import { systemActor } from '../../src/auth/actor.ts';
import { BadRequest } from '../../src/core/errors.ts';
import { RunCreate } from '../../src/schemas/runs.ts';
import { type RunContext, runKwargs, runMarkers, runMetadata } from '../../src/services/runs/run-options.ts';

const AT = '2026-11-20T12:00:00.000Z';
const CONTEXT: RunContext = {
  actor: systemActor('request-1'),
  assistant: {
    assistant_id: '046b5dc7-2108-582c-9c6c-31d556d138f0',
    graph_id: 'echo',
    config: { tags: ['assistant'], recursion_limit: 7, configurable: { model: 'small', depth: 1 } },
    context: { model: 'small', depth: 1 },
    metadata: { created_by: 'system', of: 'assistant' },
    name: 'echo',
    description: null,
    version: 1,
    created_at: AT,
    updated_at: AT,
  },
  thread_id: '019e0000-0000-7000-8000-000000000001',
  run_id: '019e0000-0000-7000-8000-000000000002',
  kind: 'background',
  temporary: false,
  now_ms: Date.parse(AT),
  thread_metadata: { of: 'thread', tm: 1 },
};

const kwargs = (input: object, context: Partial<RunContext> = {}) =>
  runKwargs(RunCreate.parse({ assistant_id: 'echo', ...input }), { ...CONTEXT, ...context });

test('options of a request override those of the assistant, and those of the server override both', () => {
  const { config, context } = kwargs({
    config: { tags: ['mine'], configurable: { model: 'large', thread_id: 'another' } },
  });
  expect(config).toMatchObject({ tags: ['mine'], recursion_limit: 7 });
  expect(config.configurable).toMatchObject({
    model: 'large',
    depth: 1,
    thread_id: CONTEXT.thread_id,
    run_id: CONTEXT.run_id,
    graph_id: 'echo',
    assistant_id: CONTEXT.assistant.assistant_id,
    user_id: '',
    langgraph_auth_user: null,
    langgraph_request_id: 'request-1',
  });
  expect(context).toMatchObject({ model: 'large', depth: 1 });
});

test('the user of a run is the authenticated one, else the one that the client names', () => {
  const asked = { config: { configurable: { user_id: 'mallory', langgraph_auth_user_id: 'mallory' } } };
  const actor = { ...CONTEXT.actor, user: { identity: 'ana', permissions: [] } };

  expect(kwargs(asked, { actor }).config.configurable).toMatchObject({
    user_id: 'ana',
    langgraph_auth_user_id: 'ana',
  });
  expect(kwargs(asked).config.configurable).toMatchObject({ user_id: 'mallory', langgraph_auth_user_id: '' });
});

test('context is copied to configurable, and a request with both is refused', () => {
  const { config, context } = kwargs({ context: { model: 'large' } });
  expect(config.configurable['model']).toBe('large');
  expect(context).toEqual({ model: 'large', depth: 1 });
  expect(() => kwargs({ context: { a: 1 }, config: { configurable: { b: 2 } } })).toThrow(BadRequest);
});

test('metadata of assistant, thread, configuration and request are merged in this order', () => {
  const input = RunCreate.parse({
    assistant_id: 'echo',
    config: { metadata: { of: 'config', cm: 1 } },
    metadata: { of: 'request', rm: 1, run_id: 'forged', thread_id: 'forged', assistant_id: 'forged' },
  });
  expect(runMetadata(input, CONTEXT)).toEqual({
    created_by: 'system',
    tm: 1,
    cm: 1,
    rm: 1,
    of: 'request',
    graph_id: 'echo',
    assistant_id: CONTEXT.assistant.assistant_id,
  });
  expect(runMetadata(input, { ...CONTEXT, temporary: true })).not.toHaveProperty('graph_id');
});

test.for([
  [{}, ['values']],
  [{ stream_mode: [] }, ['values']],
  [{ stream_mode: 'updates' }, ['updates']],
  [{ stream_mode: ['updates', 'messages', 'updates'] }, ['updates', 'messages']],
] as const)('a run with stream mode %o has the modes %o', ([input, modes]) => {
  expect(kwargs(input).stream_mode).toEqual(modes);
});

test('a run that a client waits for has mode values in any case', () => {
  expect(kwargs({ stream_mode: 'updates' }, { kind: 'wait' }).stream_mode).toEqual(['updates', 'values']);
});

test.for([
  [{}, 'async', true],
  [{ checkpoint_during: true }, 'async', true],
  [{ checkpoint_during: false }, 'exit', false],
  [{ durability: 'sync', checkpoint_during: false }, 'sync', true],
] as const)('a run with %o has durability %s', ([input, durability, checkpoint_during]) => {
  expect(kwargs(input)).toMatchObject({ durability, checkpoint_during });
});

test('a run can start at a checkpoint, given as an object or by id', () => {
  const checkpoint = { thread_id: 'x', checkpoint_ns: '', checkpoint_id: '1f0', checkpoint_map: null };
  expect(kwargs({ checkpoint }).config.configurable['checkpoint_id']).toBe('1f0');
  expect(kwargs({ checkpoint_id: '1f1' }).config.configurable['checkpoint_id']).toBe('1f1');
  expect(kwargs({}).config.configurable).not.toHaveProperty('checkpoint_id');
});

test.each<[string, object, Partial<RunContext>, object]>([
  ['a run on a thread', {}, {}, {}],
  ['event streaming', {}, { kind: 'events' }, { is_event_streaming: true }],
  ['a cron', {}, { cron_id: 'c' }, { is_of_cron: true }],
  ['a stateless run', {}, { temporary: true }, { thread_retention: 'delete' }],
  ['a stateless run that keeps its thread', { on_completion: 'keep' }, { temporary: true }, {}],
  [
    'a stateless run that is kept while it waits',
    {},
    { temporary: true, keep_interrupted: true },
    { thread_retention: 'keep_interrupted' },
  ],
  [
    'an unknown on_completion set by an auth handler',
    { on_completion: 'x' },
    { temporary: true },
    { thread_retention: 'delete' },
  ],
])('the server marks a run in its kwargs: %s', (_, input, context, markers) => {
  expect(runMarkers(input, { ...CONTEXT, ...context })).toEqual({
    is_event_streaming: false,
    is_of_cron: false,
    thread_retention: 'keep',
    ...markers,
  });
});

test('a temporary run that is kept while it waits shows on_completion delete', () => {
  expect(kwargs({}, { temporary: true, keep_interrupted: true })['on_completion']).toBe('delete');
});

import { afterAll, expect, test } from 'vitest';
import { runSpanIdOf } from '../../../src/core/trace-ids.ts';
import { message, oldMessage } from '../../support/a2a.ts';
import { askLegacy, askModern } from '../../support/mcp-messages.ts';
import { CALLER, recordedApp, TRACE } from '../../support/traced-caller.ts';

const app = await recordedApp(['recorded']);
const { http, hook } = app;
afterAll(() => app[Symbol.asyncDispose]());

const toHook = () => ({ pushNotificationConfig: { url: hook.url } });

test.each([
  ['message/send', () => ({ message: oldMessage({ ask: false }), configuration: toHook() })],
  ['message/stream', () => ({ message: oldMessage({ ask: false }), configuration: toHook() })],
  [
    'SendMessage',
    () => ({
      message: message({ ask: false }),
      configuration: { taskPushNotificationConfig: { url: hook.url } },
    }),
  ],
])(
  'A2A %s has the trace context of its caller, and its push notifications that of its run',
  async (method, params) => {
    const before = hook.received.length;
    const call = { jsonrpc: '2.0', id: 1, method, params: params() };
    expect(await http.post('/a2a/recorded', call, { traceparent: CALLER })).toMatchObject({ status: 200 });
    await hook.came(before + 1);
    const { body } = await http.get('/webhooks/deliveries?limit=1');
    const { run_id } = body[0];
    expect((await http.get(`/runs/${run_id}/steps`)).body.trace_id).toBe(TRACE);
    expect(hook.received[before]?.headers['traceparent']).toBe(`00-${TRACE}-${runSpanIdOf(run_id)}-01`);
  },
);

test.each([
  ['2025', askLegacy],
  ['2026', askModern],
])(
  'an MCP tool call in the form of %s has the trace context of its caller in its metadata',
  async (form, ask) => {
    const call = {
      name: 'recorded',
      arguments: { ask: false },
      _meta: { thread_id: `in ${form}`, traceparent: CALLER },
    };
    const { result } = await ask(http, 'tools/call', call);
    const { body } = await http.get(`/runs/${result._meta.run_id}/steps`);
    expect(body.trace_id).toBe(TRACE);
  },
);

import { resolve } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { type SpanBuffer, spanBuffer } from '../../../src/extensions/tracing/span-buffer.ts';
import { type Span, spanFactory } from '../../../src/extensions/tracing/spans.ts';
import { openApp } from '../../support/app.ts';
import { collector } from '../../support/collector.ts';
import { naming } from '../../support/naming.ts';
import { recordingLogger } from '../../support/recording-logger.ts';
import { until } from '../../support/until.ts';

afterEach(() => vi.unstubAllEnvs());

const RUN = {
  run_id: '00000000-0000-4000-8000-000000000001',
  thread_id: '00000000-0000-4000-8000-000000000002',
  assistant_id: '00000000-0000-4000-8000-000000000003',
  agent_name: 'Greeter',
  agent_version: '2',
  graph_id: 'greeter',
  caller: undefined,
  trace_id: '00000000000040008000000000000001',
  due: 1000,
};
const SPAN = spanFactory({}).run(RUN, { status: 'success', error: null, at: 2000 });
const LIMITS = { max_spans: 4, batch: 2, delay_ms: 1, timeout_ms: 10_000 };

type Done = (result: { code: number }) => void;

/** A buffer before an exporter whose requests the test answers. */
function buffered(limits: Partial<typeof LIMITS> = {}) {
  const requests: { spans: Span[]; done: Done }[] = [];
  const messages: string[] = [];
  const exporter = {
    export: (spans: Span[], done: Done) => void requests.push({ spans, done }),
    shutdown: async () => {},
  };
  const logger = recordingLogger('info', ({ message }) => messages.push(message));
  const buffer = spanBuffer(exporter, { limits: { ...LIMITS, ...limits }, logger });
  return { buffer, requests, messages };
}

function add(buffer: SpanBuffer, count: number): void {
  for (let n = 0; n < count; n++) buffer.add(() => SPAN);
}

test('a full batch of spans is sent at once, one request at a time', async () => {
  const { buffer, requests } = buffered({ delay_ms: 3_600_000 });
  add(buffer, 4);
  expect(requests.map(({ spans }) => spans.length)).toEqual([2]);
  requests[0]?.done({ code: 0 });
  await until('the second request is made', () => requests.length === 2);
  requests[1]?.done({ code: 0 });
  await buffer.flush();
  expect(buffer.stats()).toEqual({ sent: 4, dropped: 0, waiting: 0 });
});

test('spans beyond the limit are dropped and counted', () => {
  const { buffer } = buffered();
  add(buffer, 9);
  expect(buffer.stats()).toEqual({ sent: 0, dropped: 3, waiting: 4 });
});

test('spans are created when they are sent, and not if they are dropped', async () => {
  const { buffer, requests } = buffered();
  let made = 0;
  const make = () => {
    made += 1;
    return SPAN;
  };
  for (let n = 0; n < 9; n++) buffer.add(make);
  expect(made).toBe(2);
  requests[0]?.done({ code: 0 });
  await until('the second request is made', () => requests.length === 2);
  expect([made, buffer.stats().dropped]).toEqual([4, 3]);
});

test('a span that cannot be created is dropped with a warning', async () => {
  const { buffer, messages } = buffered();
  buffer.add(() => {
    throw new Error('no span');
  });
  await until('it is dropped', () => buffer.stats().dropped === 1);
  expect(messages).toEqual([naming('cannot send')]);
});

test('a failing collector is reported once, and again when it works', async () => {
  const { buffer, requests, messages } = buffered();
  for (const [index, code] of [1, 1, 0].entries()) {
    add(buffer, 1);
    await until('a request is made', () => requests.length === index + 1);
    requests[index]?.done({ code });
    await until('it is over', () => buffer.stats().waiting === 0 && sum(buffer) === index + 1);
  }
  expect(buffer.stats()).toMatchObject({ sent: 1, dropped: 2 });
  expect(messages).toEqual([naming('cannot send'), naming('again')]);
});

const sum = (buffer: SpanBuffer) => buffer.stats().sent + buffer.stats().dropped;

test('a request to the collector that takes too long is aborted', async () => {
  const { buffer } = buffered({ timeout_ms: 5 });
  add(buffer, 1);
  await until('it is given up', () => buffer.stats().dropped === 1);
});

test('a collector that never answers changes no run and does not keep the server from stopping', async () => {
  await using sink = await collector({ answers: false });
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', sink.url);
  vi.stubEnv('OTEL_BSP_SCHEDULE_DELAY', '1');
  vi.stubEnv('OTEL_BSP_MAX_QUEUE_SIZE', '20');
  const folder = resolve(import.meta.dirname, '../../fixtures/recorded-graphs');
  await using http = await openApp({ graphs: ['recorded'], folder });
  for (let n = 0; n < 5; n++) {
    const { status } = await http.post('/runs/wait', { assistant_id: 'recorded', input: { ask: false } });
    expect(status).toBe(200);
  }
  const { text } = await http.get('/metrics');
  const [, dropped] = text.match(/^agent_server_spans_dropped_total (\d+)$/m) ?? [];
  expect(Number(dropped)).toBeGreaterThan(0);
  expect(sink.requests).toHaveLength(1);
  await http.app.stop(0);
  // It ends although the request has no answer yet, and sends no other one.
  expect(sink.requests).toHaveLength(1);
});

import { expect, test } from 'vitest';
import { traceSettings } from '../../../src/extensions/tracing/settings.ts';

const ON = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };

test.each([
  {},
  { OTEL_EXPORTER_OTLP_ENDPOINT: ' ' },
  { ...ON, OTEL_SDK_DISABLED: 'TRUE' },
  { ...ON, OTEL_TRACES_EXPORTER: 'none' },
  { ...ON, OTEL_TRACES_EXPORTER: 'console,zipkin' },
])('%j disables traces', (env) => {
  expect(traceSettings(env)).toBeUndefined();
});

test.each([
  [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, 'OTEL_EXPORTER_OTLP_PROTOCOL is grpc'],
  [{ OTEL_TRACES_SAMPLER: 'sometimes' }, 'OTEL_TRACES_SAMPLER is sometimes'],
  [{ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '2' }, 'a number from 0 to 1'],
])('telemetry setting %j is refused with a way out', (env, text) => {
  expect(traceSettings({ ...ON, ...env })).toEqual({ problem: expect.stringContaining(text) });
});

test('telemetry settings have the defaults of the specification', () => {
  expect(traceSettings(ON)).toEqual({
    protocol: 'http/protobuf',
    resource: { 'service.name': 'agent-server', 'service.version': expect.any(String) },
    sampler: { ratio: 1, follows_caller: true },
    conventions: 'published',
    has_contents: false,
    buffer: { max_spans: 2048, batch: 512, delay_ms: 5000, timeout_ms: 30_000 },
  });
});

test('the variable for traces overrides the general one, and the service name its resource attribute', () => {
  const env = {
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:4318/v1/traces',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
    OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json',
    OTEL_RESOURCE_ATTRIBUTES: 'service.name=one, team = a%2Cb ,broken,half=50%',
    OTEL_SERVICE_NAME: 'two',
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0.25',
    OTEL_SEMCONV_STABILITY_OPT_IN: 'http, gen_ai_latest_experimental',
    OTEL_BSP_MAX_QUEUE_SIZE: '10',
    OTEL_BSP_SCHEDULE_DELAY: 'soon',
    OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'SPAN_AND_EVENT',
  };
  expect(traceSettings(env)).toEqual({
    protocol: 'http/json',
    resource: { 'service.name': 'two', 'service.version': expect.any(String), team: 'a,b', half: '50%' },
    sampler: { ratio: 0.25, follows_caller: true },
    conventions: 'latest',
    has_contents: true,
    buffer: { max_spans: 10, batch: 10, delay_ms: 5000, timeout_ms: 30_000 },
  });
});

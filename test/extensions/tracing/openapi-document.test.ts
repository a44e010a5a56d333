import { afterEach, expect, test, vi } from 'vitest';
import { openApiDocument } from '../../../src/app/openapi-document.ts';

afterEach(() => vi.unstubAllEnvs());

test.each(['http/json', 'grpc'])(
  'the OpenAPI document is made while traces are asked for over %s',
  async (protocol) => {
    const document = await openApiDocument('1.2.3');
    vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', 'http://127.0.0.1:9');
    vi.stubEnv('OTEL_EXPORTER_OTLP_PROTOCOL', protocol);
    expect(await openApiDocument('1.2.3')).toEqual(document);
  },
);

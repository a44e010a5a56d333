import { expect, test } from 'vitest';
import { naming } from '../../support/naming.ts';
import { startServer } from '../../support/server.ts';

/**
 * Writes the name of each module of OpenTelemetry that a process loads, except for its API, which other libraries load
 * too. `missing`: its exporters are not there.
 */
function watching({ missing = false } = {}): Readonly<Record<string, string>> {
  const hook = `
    import { registerHooks } from 'node:module';
    registerHooks({
      resolve(name, context, next) {
        if (${missing} && name.includes('exporter-trace-otlp'))
          throw Object.assign(new Error('not found'), { code: 'ERR_MODULE_NOT_FOUND' });
        return next(name, context);
      },
      load(url, context, next) {
        if (/@opentelemetry.(?!api.)/.test(url)) process.stderr.write('loaded ' + url + '\\n');
        return next(url, context);
      },
    });`;
  return { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(hook)}` };
}

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' };

test('without an endpoint no OpenTelemetry module is loaded', async () => {
  await using server = await startServer({ env: { ...watching(), OTEL_EXPORTER_OTLP_ENDPOINT: '' } });
  expect(await server.kill('SIGTERM')).toBe(0);
  expect(server.errors).not.toContain('@opentelemetry');
});

test('with an endpoint only the exporter of its protocol is loaded', async () => {
  await using server = await startServer({ env: { ...watching(), ...ENDPOINT } });
  await server.kill('SIGTERM');
  expect(server.errors).toContain('exporter-trace-otlp-proto');
  expect(server.errors).not.toContain('exporter-trace-otlp-http');
});

test('a server without the exporter for its endpoint starts, and logs what to install', async () => {
  await using server = await startServer({ env: { ...watching({ missing: true }), ...ENDPOINT } });
  expect(server.log).toContainEqual(
    expect.objectContaining({
      level: 'warn',
      message: naming(
        'OTEL_EXPORTER_OTLP_ENDPOINT',
        'npm install @opentelemetry/api @opentelemetry/exporter-trace-otlp-proto',
      ),
    }),
  );
});

import { importUserModule } from '../../graphs/project/user-module.ts';
import type { OtlpProtocol } from './settings.ts';
import type { Span } from './spans.ts';

/** The subset of OpenTelemetry's exporter in use. */
export interface SpanExporter {
  export(spans: Span[], done: (result: { code: number; error?: Error }) => void): void;
  shutdown(): Promise<void>;
}

const PACKAGES: Readonly<Record<OtlpProtocol, string>> = {
  'http/protobuf': '@opentelemetry/exporter-trace-otlp-proto',
  'http/json': '@opentelemetry/exporter-trace-otlp-http',
};

/**
 * Loads the exporter of a protocol from the project or from the server's own folder; it reads endpoint, headers, timeout,
 * compression and certificates from `OTEL_EXPORTER_OTLP_*`. Returns the problem as a sentence if its packages are not
 * installed.
 */
export async function loadExporter(
  protocol: OtlpProtocol,
  folder: string,
): Promise<SpanExporter | { readonly problem: string }> {
  const name = PACKAGES[protocol];
  try {
    const { OTLPTraceExporter } = await importUserModule<{ OTLPTraceExporter: new () => SpanExporter }>(
      folder,
      name,
    );
    return new OTLPTraceExporter();
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    return {
      problem: `No traces are sent: OTEL_EXPORTER_OTLP_ENDPOINT is set, but its exporter is not installed; run \`npm install @opentelemetry/api ${name}\`.`,
    };
  }
}

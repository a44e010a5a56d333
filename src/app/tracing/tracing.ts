import { processEnvironment } from '../../config/env.ts';
import { traceSettings } from '../../config/telemetry.ts';
import type { Logger } from '../../core/logger.ts';
import type { MaskSecrets } from '../../core/mask-secrets.ts';
import type { RunSpan } from '../../graphs/graph.ts';
import type { TraceStats } from '../../schemas/system.ts';
import type { ClaimedRun } from '../../storage/queue/claim.ts';
import type { Storage } from '../../storage/storage.ts';
import type { Recorded } from '../../workers/attempt.ts';
import { loadExporter } from './exporter.ts';
import { attemptSpan, runTracer } from './run-tracer.ts';
import { spanBuffer } from './span-buffer.ts';
import { spanFactory } from './spans.ts';

/** Traces of runs that are sent by OTLP. */
export interface Tracing {
  /** Whether spans have what runs, models and tools are given and return. */
  readonly has_contents: boolean;
  onRecorded(recorded: Recorded): void;
  onLost(run_id: string): void;
  /** The span of the attempt that begins: spans of its code are below it. */
  spanOf(claimed: ClaimedRun): RunSpan;
  stats(): TraceStats;
  /** Sends what waits. Always resolves; without the collector after some seconds. */
  flush(): Promise<void>;
}

/**
 * Sends traces of runs as the `OTEL_*` variables say. Returns `undefined`, and has loaded nothing, if they ask for
 * none; logs why if they ask for what cannot be done.
 */
export async function openTracing(
  root: string,
  { storage, logger, mask }: { storage: Storage; logger: Logger; mask: MaskSecrets },
): Promise<Tracing | undefined> {
  const none = ({ problem }: { problem: string }) => void logger.warn(problem);
  const settings = traceSettings(processEnvironment());
  if (settings === undefined) return undefined;
  if ('problem' in settings) return none(settings);
  const exporter = await loadExporter(settings.protocol, root);
  if ('problem' in exporter) return none(exporter);
  const buffer = spanBuffer(exporter, { limits: settings.buffer, logger });
  const spans = spanFactory(settings.resource, mask, settings.conventions);
  const { runs, runSteps } = storage;
  const { sampler, has_contents } = settings;
  const { drain, ...listeners } = runTracer({
    ...{ buffer, spans, sampler, has_contents, runs, runSteps, logger },
  });
  return {
    ...listeners,
    has_contents,
    spanOf: (claimed) => attemptSpan(claimed, sampler),
    stats: buffer.stats,
    async flush() {
      await drain();
      await buffer.flush();
    },
  };
}

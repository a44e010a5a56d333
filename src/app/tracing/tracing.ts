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

/** Sends traces of runs over OTLP. */
export interface Tracing {
  /** Whether spans contain inputs and outputs of runs, models and tools. */
  readonly has_contents: boolean;
  onRecorded(recorded: Recorded): void;
  onLost(run_id: string): void;
  /** Span of a starting attempt, the parent of spans from its code. */
  spanOf(claimed: ClaimedRun): RunSpan;
  stats(): TraceStats;
  /** Sends the buffered spans. Always resolves, after a few seconds if the collector is down. */
  flush(): Promise<void>;
}

/**
 * Sends traces of runs as configured by the `OTEL_*` variables. Returns `undefined` without loading anything if
 * they do not enable traces; logs the reason if traces are enabled but impossible.
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

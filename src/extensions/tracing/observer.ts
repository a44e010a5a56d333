import { processEnvironment } from '../../config/env.ts';
import type { Contribution, Core } from '../extension.ts';
import { loadExporter } from './exporter.ts';
import { attemptSpan, runTracer } from './run-tracer.ts';
import { traceSettings } from './settings.ts';
import { spanBuffer } from './span-buffer.ts';
import { spanFactory } from './spans.ts';

/**
 * Sends traces of runs as configured by the `OTEL_*` variables. Contributes nothing, and logs the reason, if that is
 * impossible.
 */
export async function openTracing({ root, storage, logger, mask }: Core): Promise<Contribution> {
  const none = ({ problem }: { problem: string }) => {
    logger.warn(problem);
    return {};
  };
  const settings = traceSettings(processEnvironment());
  if (settings === undefined) return {};
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
    observer: {
      ...listeners,
      has_contents,
      spanOf: (claimed) => attemptSpan(claimed, sampler),
      stats: buffer.stats,
    },
    // Sends the buffered spans. Takes a few seconds if the collector is down.
    async [Symbol.asyncDispose]() {
      await drain();
      await buffer.flush();
    },
  };
}

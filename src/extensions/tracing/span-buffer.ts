import type { Logger } from '../../core/logger.ts';
import { after, type Timer, withDeadline } from '../../core/timers.ts';
import type { TraceStats } from '../../schemas/system.ts';
import type { SpanExporter } from './exporter.ts';
import type { SpanBufferLimits } from './settings.ts';
import type { Span } from './spans.ts';

/** How long shutdown waits for the last spans, ms. */
const FLUSH_MS = 3000;

export interface SpanBuffer {
  /**
   * Never waits and never throws. Drops the span if the buffer is full. `make` is called only when the span is
   * sent, so that buffered and dropped spans cost next to no memory while a collector hangs.
   */
  add(make: () => Span): void;
  /** Sends the buffered spans. Always resolves, after a few seconds at the latest. */
  flush(): Promise<void>;
  stats(): TraceStats;
}

/** Bounded buffer before an exporter, which may be slow, hang or fail: one request at a time. */
export function spanBuffer(
  exporter: SpanExporter,
  { limits, logger }: { limits: SpanBufferLimits; logger: Logger },
): SpanBuffer {
  const waiting: (() => Span)[] = [];
  let [sent, dropped] = [0, 0];
  let sending: Promise<void> | undefined;
  let timer: Timer | undefined;
  let isFailing = false;

  async function sendBatch(): Promise<void> {
    const batch = waiting.splice(0, limits.batch);
    const error = await exportWithin(exporter, batch, limits.timeout_ms);
    if (error === undefined) sent += batch.length;
    else dropped += batch.length;
    if (error !== undefined && !isFailing) logger.warn('cannot send traces; runs continue', { error });
    if (error === undefined && isFailing) logger.info('traces are sent again', { dropped });
    isFailing = error !== undefined;
  }

  /** Sends until the buffer is empty or a request fails: further ones would fail too. */
  async function sendAll(): Promise<void> {
    do await sendBatch();
    while (waiting.length > 0 && !isFailing);
  }

  function send(): Promise<void> {
    timer?.[Symbol.dispose]();
    timer = undefined;
    sending ??= sendAll().finally(() => {
      sending = undefined;
      if (waiting.length > 0) schedule();
    });
    return sending;
  }

  function schedule(): void {
    timer ??= after(limits.delay_ms, () => void send()).unref();
  }

  return {
    add(make) {
      if (waiting.length >= limits.max_spans) {
        dropped += 1;
        return;
      }
      waiting.push(make);
      if (sending !== undefined) return;
      if (waiting.length >= limits.batch && !isFailing) void send();
      else schedule();
    },

    async flush() {
      const all = async () => {
        await sending;
        if (waiting.length > 0) await send();
        await exporter.shutdown();
      };
      await withDeadline(FLUSH_MS, all()).catch(() => {});
      timer?.[Symbol.dispose]();
    },

    stats: () => ({ sent, dropped, waiting: waiting.length }),
  };
}

/** Resolves to the error, or to `undefined`. */
async function exportWithin(
  exporter: SpanExporter,
  batch: readonly (() => Span)[],
  timeout_ms: number,
): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  try {
    const spans = batch.map((make) => make());
    exporter.export(spans, ({ code, error }) =>
      code === 0 ? resolve() : reject(error ?? new Error('The exporter failed.')),
    );
    await withDeadline(timeout_ms, promise);
    return undefined;
  } catch (error) {
    return error;
  }
}

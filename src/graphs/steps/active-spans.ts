import { isObject } from '../../core/json.ts';
import { spanIdOf } from '../../core/trace-ids.ts';
import type { RunSpan } from '../graph.ts';
import { importUserModule } from '../project/user-module.ts';

/** `@opentelemetry/api`, by shape. */
interface SpanApi {
  readonly context: {
    active(): unknown;
    with<T>(context: unknown, act: () => T): T;
  };
  readonly trace: {
    setSpanContext(
      context: unknown,
      span: { traceId: string; spanId: string; traceFlags: number; isRemote: true },
    ): unknown;
  };
}

/** Calls functions in such a way that spans that they start are below spans of the server. */
export interface ActiveSpans {
  /** Below the span of the attempt. */
  inAttempt<T>(act: () => T): T;
  /** Below the span of the step with this number, if steps are sent. */
  inStep<T>(number: number, act: () => T): T;
}

/** Where all copies of the API of major version 1 register what is shared. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1');

/**
 * What makes spans of the server the active ones for the code of the project in `folder`; `undefined`, and nothing is
 * loaded, if that code has no OpenTelemetry SDK that would ask for the active span. Also `undefined` if the API cannot be
 * loaded from there: the SDK may have a copy that only it can load. Never rejects.
 */
export async function activeSpans(folder: string, span: RunSpan): Promise<ActiveSpans | undefined> {
  if (!hasContextManager()) return undefined;
  const api = await importUserModule<SpanApi>(folder, '@opentelemetry/api').catch(() => undefined);
  if (!api) return undefined;
  const { context, trace } = api;
  const { trace_id, span_id, sampled, attempt } = span;
  const below = <T>(spanId: string, act: () => T): T => {
    const parent = { traceId: trace_id, spanId, traceFlags: sampled ? 1 : 0, isRemote: true } as const;
    return context.with(trace.setSpanContext(context.active(), parent), act);
  };
  return {
    inAttempt: (act) => below(span_id, act),
    inStep: (number, act) =>
      attempt === undefined ? act() : below(spanIdOf(attempt.run_id, attempt.number, number), act),
  };
}

function hasContextManager(): boolean {
  const registered: unknown = Reflect.get(globalThis, REGISTERED);
  return isObject(registered) && 'context' in registered;
}

import type { Environment } from '../../config/env.ts';
import { VERSION } from '../../config/version.ts';

/** How spans are encoded for OTLP over HTTP. */
export type OtlpProtocol = 'http/protobuf' | 'http/json';

/**
 * Version of the GenAI conventions: those published with OpenTelemetry's others (1.41), or the latest of the GenAI group
 * (0.1), which names the agent where the former name a workflow.
 */
export type GenAiConventions = 'published' | 'latest';

/** Trace settings from `OTEL_*` variables; the exporter reads endpoint, headers and certificates itself. */
export interface TraceSettings {
  readonly protocol: OtlpProtocol;
  /** Attributes of this service. */
  readonly resource: Readonly<Record<string, string>>;
  readonly sampler: Sampler;
  readonly conventions: GenAiConventions;
  /** Whether spans contain the inputs and outputs of models and tools. */
  readonly has_contents: boolean;
  readonly buffer: SpanBufferLimits;
}

/** Sampling of traces. `ratio`: share that is sent, from 0 to 1. */
export interface Sampler {
  readonly ratio: number;
  /** Whether the caller's sampling decision takes precedence. */
  readonly follows_caller: boolean;
}

export interface SpanBufferLimits {
  /** Spans waiting to be sent; further ones are dropped. */
  readonly max_spans: number;
  /** Spans in one request. */
  readonly batch: number;
  /** Longest time a span waits for others, ms. */
  readonly delay_ms: number;
  /** Longest time that a request may take, ms. */
  readonly timeout_ms: number;
}

/**
 * Reads the variables of the OpenTelemetry specification. Returns `undefined` if they do not enable traces, and
 * the problem as a sentence if they ask for something that this server does not support.
 */
export function traceSettings(env: Environment): TraceSettings | { readonly problem: string } | undefined {
  const isEnabled = value(env, 'OTEL_SDK_DISABLED')?.toLowerCase() !== 'true';
  const endpoint =
    value(env, 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT') ?? value(env, 'OTEL_EXPORTER_OTLP_ENDPOINT');
  const exporters = (value(env, 'OTEL_TRACES_EXPORTER') ?? 'otlp').split(',').map((name) => name.trim());
  if (!isEnabled || endpoint === undefined || !exporters.includes('otlp')) return undefined;
  const protocol =
    value(env, 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL') ??
    value(env, 'OTEL_EXPORTER_OTLP_PROTOCOL') ??
    'http/protobuf';
  if (protocol !== 'http/protobuf' && protocol !== 'http/json') {
    return {
      problem: `No traces are sent: OTEL_EXPORTER_OTLP_PROTOCOL is ${protocol}; set it to http/protobuf or http/json.`,
    };
  }
  const sampler = samplerOf(env);
  return 'problem' in sampler
    ? sampler
    : {
        protocol,
        resource: resourceOf(env),
        sampler,
        conventions: conventionsOf(env),
        has_contents: capturesContents(env),
        buffer: bufferLimits(env),
      };
}

function resourceOf(env: Environment): Record<string, string> {
  const pairs = (value(env, 'OTEL_RESOURCE_ATTRIBUTES') ?? '').split(',').flatMap((pair) => {
    const at = pair.indexOf('=');
    return at < 1 ? [] : [[pair.slice(0, at).trim(), decoded(pair.slice(at + 1).trim())]];
  });
  const name = value(env, 'OTEL_SERVICE_NAME');
  return {
    'service.name': 'agent-server',
    'service.version': VERSION,
    ...Object.fromEntries(pairs),
    ...(name !== undefined && { 'service.name': name }),
  };
}

/** Values are percent-encoded; one that is not is taken as it is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** As OpenTelemetry's GenAI instrumentations read it. Contents go to spans only, so `event_only` counts as off. */
function capturesContents(env: Environment): boolean {
  const given = value(env, 'OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT')?.toLowerCase() ?? 'false';
  return ['true', 'span_only', 'span_and_event'].includes(given);
}

/** A list, in which each group of conventions has its own values. */
function conventionsOf(env: Environment): GenAiConventions {
  const chosen = (value(env, 'OTEL_SEMCONV_STABILITY_OPT_IN') ?? '').split(',').map((name) => name.trim());
  return chosen.includes('gen_ai_latest_experimental') ? 'latest' : 'published';
}

function samplerOf(env: Environment): Sampler | { readonly problem: string } {
  const name = value(env, 'OTEL_TRACES_SAMPLER') ?? 'parentbased_always_on';
  const follows_caller = name.startsWith('parentbased_');
  switch (name.replace(/^parentbased_/, '')) {
    case 'always_on':
      return { ratio: 1, follows_caller };
    case 'always_off':
      return { ratio: 0, follows_caller };
    case 'traceidratio': {
      const ratio = Number(value(env, 'OTEL_TRACES_SAMPLER_ARG') ?? 1);
      if (ratio >= 0 && ratio <= 1) return { ratio, follows_caller };
      return { problem: 'No traces are sent: OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1.' };
    }
    default:
      return {
        problem: `No traces are sent: OTEL_TRACES_SAMPLER is ${name}; set it to always_on, always_off or traceidratio, or one of them after parentbased_.`,
      };
  }
}

function bufferLimits(env: Environment): SpanBufferLimits {
  const max_spans = whole(env, 'OTEL_BSP_MAX_QUEUE_SIZE', 2048, 1_000_000);
  return {
    max_spans,
    batch: Math.min(max_spans, whole(env, 'OTEL_BSP_MAX_EXPORT_BATCH_SIZE', 512, 100_000)),
    delay_ms: whole(env, 'OTEL_BSP_SCHEDULE_DELAY', 5000, 3_600_000),
    timeout_ms: whole(env, 'OTEL_BSP_EXPORT_TIMEOUT', 30_000, 3_600_000),
  };
}

/** A whole number from 1 to `max`; the specification's default for anything else. */
function whole(env: Environment, name: string, fallback: number, max: number): number {
  const number = Number(value(env, name));
  return Number.isInteger(number) && number >= 1 && number <= max ? number : fallback;
}

/** Empty counts as unset, as the specification has it. */
function value(env: Environment, name: string): string | undefined {
  return env[name]?.trim() || undefined;
}

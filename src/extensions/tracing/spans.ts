import { VERSION } from '../../config/version.ts';
import { type MaskSecrets, maskSecrets } from '../../core/mask-secrets.ts';
import { runSpanIdOf, spanIdOf, type TraceParent } from '../../core/trace-ids.ts';
import type { StepContents } from '../../schemas/steps.ts';
import type { RunError } from '../../schemas/threads.ts';
import {
  type Attributes,
  attributesOfAttempt,
  attributesOfRun,
  attributesOfStep,
  isPlan,
  memoryOperation,
  type SpanOwner,
  type TracedStep,
} from './attributes.ts';
import type { GenAiConventions } from './settings.ts';

/** Seconds and nanoseconds since the epoch. */
type HrTime = [number, number];

interface SpanContext {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceFlags: number;
}

/**
 * A span in the form that OpenTelemetry's exporters accept (`ReadableSpan`), without depending on their
 * packages.
 */
export interface Span {
  readonly name: string;
  readonly kind: number;
  spanContext(): SpanContext;
  readonly parentSpanContext?: SpanContext;
  readonly startTime: HrTime;
  readonly endTime: HrTime;
  readonly duration: HrTime;
  readonly status: { readonly code: number };
  readonly attributes: Attributes;
  readonly links: readonly { readonly context: SpanContext }[];
  readonly events: readonly never[];
  readonly ended: true;
  readonly resource: { readonly attributes: Attributes };
  readonly instrumentationScope: { readonly name: string; readonly version: string };
  readonly droppedAttributesCount: 0;
  readonly droppedEventsCount: 0;
  readonly droppedLinksCount: 0;
}

/** The run that spans belong to. */
export interface TracedRun extends SpanOwner {
  readonly trace_id: string;
  /** Span of the calling program, if any. */
  readonly caller: TraceParent | undefined;
  /** When the run became due, epoch ms. */
  readonly due: number;
}

/** A span of this trace or another. */
export interface SpanLink {
  readonly trace_id: string;
  readonly span_id: string;
}

/** An ended attempt; times in epoch ms. */
export interface TracedAttempt {
  readonly attempt: number;
  readonly worker_id: string;
  readonly started: number;
  readonly ended: number;
  readonly status: string;
  /** The run that it resumed, and its span unless the run was deleted. */
  readonly resumed?: { readonly run_id: string; readonly span: SpanLink | undefined } | undefined;
}

/** The end of a run; `at` in epoch ms. */
export interface TracedEnd {
  readonly status: string;
  readonly error: RunError | null;
  readonly at: number;
  readonly contents?: StepContents | undefined;
}

type Resource = Readonly<Record<string, string>>;

// Numbers of the API: SpanKind, SpanStatusCode, TraceFlags.
const INTERNAL = 0;
const CLIENT = 2;
const UNSET = 0;
const ERROR = 2;
const SAMPLED = 1;

const SCOPE = { name: 'agent-server', version: VERSION };

/** Creates spans from recorded runs, for one resource. `mask` masks secrets in contents. */
export function spanFactory(
  attributes: Resource,
  mask: MaskSecrets = maskSecrets,
  conventions: GenAiConventions = 'published',
) {
  const resource = { attributes };
  return {
    /** The run, from its due time to its end. */
    run: (run: TracedRun, end: TracedEnd): Span => spanOf(run, partsOfRun(run, end, mask), resource),
    /** An attempt; it links to the one before, and to the run that it resumed. */
    attempt: (run: TracedRun, attempt: TracedAttempt): Span =>
      spanOf(run, partsOfAttempt(run, attempt, conventions), resource),
    /** A step of an attempt. */
    step: (run: TracedRun, attempt: number, step: TracedStep): Span =>
      spanOf(run, partsOfStep(run, attempt, step, mask), resource),
  };
}

function spanOf(run: TracedRun, { spanId, parent, ...part }: SpanParts, resource: Span['resource']): Span {
  const traceId = run.trace_id;
  const contextOf = (id: string, trace = traceId) => ({ traceId: trace, spanId: id, traceFlags: SAMPLED });
  const [start, end] = [part.started, Math.max(part.started, part.ended)];
  return {
    name: part.name,
    kind: part.kind ?? INTERNAL,
    spanContext: () => contextOf(spanId),
    ...(parent !== undefined && { parentSpanContext: contextOf(parent) }),
    startTime: hrTime(start),
    endTime: hrTime(end),
    duration: hrTime(end - start),
    status: { code: part.failed ? ERROR : UNSET },
    attributes: part.attributes,
    links: (part.links ?? []).map(({ trace_id, span_id }) => ({ context: contextOf(span_id, trace_id) })),
    events: [],
    ended: true,
    resource,
    instrumentationScope: SCOPE,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

function partsOfRun(run: TracedRun, end: TracedEnd, mask: MaskSecrets): SpanParts {
  return {
    spanId: runSpanIdOf(run.run_id),
    ...(run.caller && { parent: run.caller.span_id }),
    name: `invoke_agent ${run.agent_name}`,
    started: run.due,
    ended: end.at,
    failed: isFailure(end.status),
    attributes: attributesOfRun(run, end, mask),
  };
}

function partsOfAttempt(
  run: TracedRun,
  { attempt, worker_id, started, ended, status, resumed }: TracedAttempt,
  conventions: GenAiConventions,
): SpanParts {
  const failed = isFailure(status) || status === 'lost';
  const before = { trace_id: run.trace_id, span_id: spanIdOf(run.run_id, attempt - 1) };
  return {
    spanId: spanIdOf(run.run_id, attempt),
    parent: runSpanIdOf(run.run_id),
    name: `invoke_workflow ${run.graph_id}`,
    started,
    ended,
    failed,
    links: [...(attempt > 1 ? [before] : []), ...(resumed?.span ? [resumed.span] : [])],
    attributes: attributesOfAttempt(
      run,
      {
        'agent_server.run.attempt': attempt,
        'agent_server.run.attempt.status': status,
        'agent_server.worker.id': worker_id,
        'agent_server.run.resumed_from': resumed?.run_id,
        'agent_server.run.queue_ms': attempt === 1 ? Math.max(0, started - run.due) : undefined,
        'error.type': failed ? status : undefined,
      },
      conventions,
    ),
  };
}

function partsOfStep(run: TracedRun, attempt: number, step: TracedStep, mask: MaskSecrets): SpanParts {
  return {
    spanId: spanIdOf(run.run_id, attempt, step.number),
    parent: spanIdOf(run.run_id, attempt, step.parent ?? 0),
    name: nameOf(run, step),
    kind: step.kind === 'model' || step.kind === 'retriever' ? CLIENT : INTERNAL,
    started: step.started_at,
    ended: step.ended_at,
    failed: step.status === 'error',
    attributes: attributesOfStep(run, step, mask),
  };
}

interface SpanParts {
  readonly spanId: string;
  readonly parent?: string;
  readonly name: string;
  readonly kind?: number;
  /** Epoch ms. */
  readonly started: number;
  /** Epoch ms. */
  readonly ended: number;
  readonly failed: boolean;
  readonly attributes: Attributes;
  readonly links?: readonly SpanLink[];
}

function nameOf({ agent_name }: TracedRun, { kind, name, model }: TracedStep): string {
  switch (kind) {
    case 'node':
      return isPlan({ kind, name }) ? `plan ${agent_name}` : `node ${name}`;
    case 'model':
      return model === null ? 'chat' : `chat ${model}`;
    case 'tool':
      return `execute_tool ${name}`;
    case 'retriever':
      return `retrieval ${name}`;
    case 'store':
      return memoryOperation(name);
  }
}

function isFailure(status: string): boolean {
  return status === 'error' || status === 'timeout';
}

/** Whole ms, as stored. */
function hrTime(ms: number): HrTime {
  const whole = Math.trunc(ms);
  return [Math.floor(whole / 1000), (whole % 1000) * 1e6];
}

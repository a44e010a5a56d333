/** A span as a collector received it. */
export interface ReceivedSpan {
  readonly trace_id: string;
  readonly span_id: string;
  /** Empty for a root. */
  readonly parent_id: string;
  readonly name: string;
  readonly kind: number;
  /** Epoch ms. */
  readonly started: number;
  /** Epoch ms. */
  readonly ended: number;
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
  readonly links: readonly { trace_id: string; span_id: string }[];
  /** 2: an error. */
  readonly status: number;
  readonly resource: Readonly<Record<string, string | number | boolean>>;
}

/** Spans of a request in OTLP, by its content type. */
export function decodeSpans(body: Buffer, content_type: string): ReceivedSpan[] {
  return content_type.startsWith('application/json')
    ? fromJson(JSON.parse(body.toString()))
    : fromProto(body);
}

interface JsonAttribute {
  readonly key: string;
  readonly value: Readonly<Record<string, string | number | boolean>>;
}

interface JsonSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: JsonAttribute[];
  readonly links?: { readonly traceId: string; readonly spanId: string }[];
  readonly status: { readonly code?: number };
}

interface JsonRequest {
  readonly resourceSpans: {
    readonly resource: { readonly attributes: JsonAttribute[] };
    readonly scopeSpans: { readonly spans: JsonSpan[] }[];
  }[];
}

function fromJson({ resourceSpans }: JsonRequest): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        trace_id: span.traceId,
        span_id: span.spanId,
        parent_id: span.parentSpanId ?? '',
        name: span.name,
        kind: span.kind,
        started: msOf(BigInt(span.startTimeUnixNano)),
        ended: msOf(BigInt(span.endTimeUnixNano)),
        attributes: jsonAttributes(span.attributes),
        links: (span.links ?? []).map((link) => ({ trace_id: link.traceId, span_id: link.spanId })),
        status: span.status.code ?? 0,
        resource: jsonAttributes(resource.attributes),
      })),
    ),
  );
}

function jsonAttributes(pairs: readonly JsonAttribute[]) {
  return Object.fromEntries(
    pairs.map(({ key, value }) => {
      const [[type, plain] = ['', '']] = Object.entries(value);
      return [key, type === 'intValue' ? Number(plain) : plain];
    }),
  );
}

const msOf = (nanoseconds: bigint) => Number(nanoseconds / 1_000_000n);

/** Fields of a message by number; bytes for messages and texts, numbers for the rest. */
type Fields = Map<number, (Buffer | bigint | number)[]>;

function fieldsOf(message: Buffer): Fields {
  const fields: Fields = new Map();
  let at = 0;
  const varint = () => {
    let [value, shift] = [0n, 0n];
    for (;;) {
      const byte = message[at++] ?? 0;
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
      shift += 7n;
    }
  };
  const ofType = (type: number) => {
    if (type === 0) return varint();
    const length = type === 1 ? 8 : type === 5 ? 4 : Number(varint());
    const bytes = message.subarray(at, at + length);
    at += length;
    return type === 1 ? bytes.readBigUInt64LE() : type === 5 ? bytes.readUInt32LE() : bytes;
  };
  while (at < message.length) {
    const tag = Number(varint());
    const values = fields.get(tag >> 3) ?? [];
    values.push(ofType(tag & 7));
    fields.set(tag >> 3, values);
  }
  return fields;
}

const messages = (fields: Fields, number: number) =>
  (fields.get(number) ?? []).map((bytes) => fieldsOf(bytes as Buffer));
const text = (fields: Fields, number: number) => String(fields.get(number)?.[0] ?? '');
const hex = (fields: Fields, number: number) =>
  (fields.get(number)?.[0] as Buffer | undefined)?.toString('hex') ?? '';
const int = (fields: Fields, number: number) => Number(fields.get(number)?.[0] ?? 0);
const ms = (fields: Fields, number: number) =>
  msOf(BigInt(int(fields, number) && String(fields.get(number)?.[0])));

/** Field numbers of opentelemetry/proto/trace/v1/trace.proto. */
function fromProto(request: Buffer): ReceivedSpan[] {
  return messages(fieldsOf(request), 1).flatMap((of) =>
    messages(of, 2).flatMap((scope) =>
      messages(scope, 2).map((span) => ({
        trace_id: hex(span, 1),
        span_id: hex(span, 2),
        parent_id: hex(span, 4),
        name: text(span, 5),
        kind: int(span, 6),
        started: ms(span, 7),
        ended: ms(span, 8),
        attributes: protoAttributes(messages(span, 9)),
        links: messages(span, 13).map((link) => ({ trace_id: hex(link, 1), span_id: hex(link, 2) })),
        status: int(messages(span, 15)[0] ?? new Map(), 3),
        resource: protoAttributes(messages(of, 1).flatMap((resource) => messages(resource, 1))),
      })),
    ),
  );
}

function protoAttributes(pairs: Fields[]) {
  return Object.fromEntries(
    pairs.map((pair) => {
      const [value = new Map() as Fields] = messages(pair, 2);
      const isText = value.has(1);
      return [text(pair, 1), isText ? text(value, 1) : value.has(2) ? int(value, 2) === 1 : int(value, 3)];
    }),
  );
}

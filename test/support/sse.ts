/** One event of a stream, as a client sees it. */
export interface SseEvent {
  readonly event: string;
  /** Still JSON text. */
  readonly data: string;
  /** Undefined on a stream that cannot be resumed. */
  readonly id: string | undefined;
}

/** Parses an event stream as it arrives; comments such as heartbeats are passed over. */
export async function* sseEvents(chunks: AsyncIterable<string>): AsyncGenerator<SseEvent, void, void> {
  let rest = '';
  for await (const chunk of chunks) {
    const blocks = (rest + chunk).split(/\r?\n\r?\n/);
    rest = blocks.pop() as string;
    for (const block of blocks) {
      const event = parseEvent(block);
      if (event) yield event;
    }
  }
}

function parseEvent(block: string): SseEvent | undefined {
  const fields = new Map<string, string>();
  for (const line of block.split(/\r?\n/)) {
    const colon = line.indexOf(': ');
    if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 2));
  }
  if (!fields.has('event') && !fields.has('data')) return undefined;
  return {
    event: fields.get('event') ?? 'message',
    data: fields.get('data') ?? '',
    id: fields.get('id'),
  };
}

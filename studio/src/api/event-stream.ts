/** One server-sent event. */
export interface StreamEvent {
  /** `message` if the server sent no name. */
  readonly event: string;
  readonly data: string;
  /** Id to resume after. Absent in streams that cannot be resumed. */
  readonly id?: string;
}

/** Reads server-sent events as they arrive. Ends with the body, and throws connection errors. */
export async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<StreamEvent> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  let fields: Record<string, string> = {};
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const lines = (rest + decoder.decode(value, { stream: true })).split(/\r?\n/);
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (line !== '') {
          readField(line, fields);
          continue;
        }
        const { event = 'message', data, id } = fields;
        fields = {};
        if (data !== undefined) yield { event, data, ...(id !== undefined && { id }) };
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/** Lines that start with a colon are comments that keep the connection open. */
function readField(line: string, fields: Record<string, string>): void {
  const [, name, value] = /^([a-z]+):? ?(.*)$/.exec(line) ?? [];
  if (name === undefined || value === undefined) return;
  fields[name] = name === 'data' && fields['data'] !== undefined ? `${fields['data']}\n${value}` : value;
}

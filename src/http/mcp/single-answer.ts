/** A server-sent event of the protocol's library. */
const EVENT_END = '\n\n';

/**
 * A stream that begins with its only answer becomes plain JSON, as the official server gives it; where something comes
 * before the answer (progress, a log message) it stays a stream. The answer waits for the first event either way.
 */
export async function jsonWhereItCan(response: Response): Promise<Response> {
  if (!response.body || !response.headers.get('content-type')?.startsWith('text/event-stream'))
    return response;
  const [peeked, whole] = response.body.tee();
  const message = await firstMessage(peeked);
  if (message === undefined || 'method' in message) {
    return new Response(whole, { status: response.status, headers: response.headers });
  }
  await whole.cancel();
  return Response.json(message, { status: response.status });
}

/** Undefined when the stream ends without one. */
async function firstMessage(stream: ReadableStream<Uint8Array>): Promise<object | undefined> {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  while (!text.includes(EVENT_END)) {
    const { done, value } = await reader.read();
    if (done) return undefined;
    text += value;
  }
  await reader.cancel();
  const data = text
    .slice(0, text.indexOf(EVENT_END))
    .split('\n')
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice('data:'.length));
  return JSON.parse(data.join('\n')) as object;
}

import { type EventSourceMessage, EventSourceParserStream } from 'eventsource-parser/stream';
import { safely } from '../../core/failure.ts';
import { isObject } from '../../core/json.ts';
import { StartFailure } from '../../node.ts';

/** A running server, as a client sees it. */
export interface Server {
  readonly url: string;
  readonly key: string | undefined;
}

/** Calls the server and gives the JSON of its answer. Throws a `StartFailure` with what the server says, or that there is none. */
export async function call<T>(
  server: Server,
  method: 'GET' | 'POST',
  path: string,
  body?: object,
): Promise<T> {
  const response = await send(server, method, path, body);
  return (await response.json()) as T;
}

/** The events of a stream, with their data parsed. */
export async function* stream(
  server: Server,
  path: string,
  body: object,
): AsyncGenerator<{ readonly event: string; readonly data: unknown }> {
  const { body: bytes } = await send(server, 'POST', path, body);
  if (!bytes) return;
  const events = bytes.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
  for await (const { event = 'message', data } of events as unknown as AsyncIterable<EventSourceMessage>)
    yield { event, data: safely(() => JSON.parse(data) as unknown) };
}

async function send({ url, key }: Server, method: string, path: string, body?: object): Promise<Response> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      ...(key === undefined ? {} : { 'X-Api-Key': key }),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch((error: Error) => {
    const why = error.cause instanceof Error && 'code' in error.cause ? ` (${error.cause.code})` : '';
    throw new StartFailure(
      `no server answers at ${url}${why}: start one with agent-server dev, or name another with --url`,
      { cause: error },
    );
  });
  if (response.ok) return response;
  throw new StartFailure(refusal(response.status, await response.text()));
}

function refusal(status: number, text: string): string {
  const body: unknown = safely(() => JSON.parse(text));
  const detail = isObject(body) && typeof body['detail'] === 'string' ? body['detail'] : text.slice(0, 500);
  if (status === 401) return `the server needs a key: --key, or AGENT_SERVER_API_KEYS (${detail})`;
  return `the server refuses it with ${status}: ${detail}`;
}

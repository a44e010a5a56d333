import { type EventSourceMessage, EventSourceParserStream } from 'eventsource-parser/stream';
import { tryOrUndefined } from '../../core/failure.ts';
import { isObject } from '../../core/json.ts';
import { StartFailure } from '../../node.ts';
import { oneLine } from './sanitize.ts';

/** Connection settings of a running server. */
export interface Server {
  readonly url: string;
  readonly key: string | undefined;
}

interface Request {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: object;
}

export interface StreamEvent {
  readonly event: string;
  readonly data: unknown;
}

/**
 * Calls the server and returns its JSON reply. Throws a `StartFailure` with the server's error, or if the server is
 * unreachable or of another kind.
 */
export async function call<T>(
  server: Server,
  request: Request,
  isExpected: (answer: unknown) => answer is T,
): Promise<T> {
  return expected(server, request, await send(server, request), isExpected);
}

/**
 * Like `call`, but resolves to `undefined` for 403 and 404: the resource may not exist, or not for this key.
 */
export async function find<T>(
  server: Server,
  request: Request,
  isExpected: (answer: unknown) => answer is T,
): Promise<T | undefined> {
  const response = await send(server, request, [403, 404]);
  if (response.ok) return expected(server, request, response, isExpected);
  await response.body?.cancel();
  return undefined;
}

async function expected<T>(
  server: Server,
  request: Request,
  response: Response,
  isExpected: (answer: unknown) => answer is T,
): Promise<T> {
  const text = await response.text().catch((error: unknown) => {
    throw new StartFailure(
      `the connection to ${server.url} was lost before the reply was complete: try again`,
      { cause: error },
    );
  });
  const answer: unknown = tryOrUndefined(() => JSON.parse(text));
  if (isExpected(answer)) return answer;
  throw notAnAgentServer(server, request);
}

/** Streams the events of a reply, parsed. Throws a `StartFailure` with the text `broken` if the stream is cut off. */
export async function* stream(server: Server, request: Request, broken: string): AsyncGenerator<StreamEvent> {
  const { body: bytes, headers } = await send(server, request);
  if (!bytes || !headers.get('Content-Type')?.startsWith('text/event-stream')) {
    await bytes?.cancel();
    throw notAnAgentServer(server, request);
  }
  const run_id = /\/runs\/([\w-]+)/.exec(headers.get('Content-Location') ?? '')?.[1];
  if (run_id !== undefined) yield { event: 'metadata', data: { run_id } };
  const events = bytes.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
  const reader = (events as unknown as AsyncIterable<EventSourceMessage>)[Symbol.asyncIterator]();
  for (;;) {
    const next = await reader.next().catch((error: unknown) => {
      throw new StartFailure(broken, { cause: error });
    });
    if (next.done) return;
    const { event = 'message', data } = next.value;
    yield { event, data: tryOrUndefined(() => JSON.parse(data) as unknown) };
  }
}

/** Throws a `StartFailure` for every other status than 2xx and those of `accepted`. */
async function send(
  { url, key }: Server,
  { method, path, body }: Request,
  accepted: readonly number[] = [],
): Promise<Response> {
  const response = await fetch(`${url}${path}`, {
    method,
    // Redirects are not followed: the API key must not reach another server.
    redirect: 'manual',
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
  if (response.ok || accepted.includes(response.status)) return response;
  if (response.status >= 300 && response.status < 400) {
    await response.body?.cancel();
    throw new StartFailure(redirection(url, response.headers.get('Location')));
  }
  throw new StartFailure(errorMessage(response.status, await response.text().catch(() => '')));
}

function redirection(url: string, location: string | null): string {
  const host = tryOrUndefined(() => new URL(location ?? '', url).host) ?? 'no address';
  return `${url} redirects to ${oneLine(host)}: name the final address with --url`;
}

function notAnAgentServer({ url }: Server, { method, path }: Request): StartFailure {
  return new StartFailure(
    `the server at ${url} does not look like an Agent Server: unexpected reply to ${method} ${path}; name another with --url`,
  );
}

function errorMessage(status: number, text: string): string {
  const body: unknown = tryOrUndefined(() => JSON.parse(text));
  const detail = oneLine(isObject(body) && typeof body['detail'] === 'string' ? body['detail'] : text);
  if (status === 401)
    return `the server requires an API key: pass --key or set AGENT_SERVER_API_KEYS (${detail})`;
  return `the server rejected the request with ${status}: ${detail}`;
}

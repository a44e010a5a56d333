import type { IncomingHttpHeaders, IncomingMessage, ServerOptions, ServerResponse } from 'node:http';
import { z } from 'zod';
import { tryOrUndefined } from '../../core/failure.ts';
import { WireErrorSchema } from './errors.ts';

/**
 * What a request between the server and a host carries besides HTTP: JSON in base64url. The receiver removes the header
 * before user code sees the request.
 */
const CONTEXT_HEADER = 'x-agent-server-context';
/** The same for a response that is more than what it seems. */
const ANSWER_HEADER = 'x-agent-server-answer';

/** Context of a request for the project's app (server → host). */
export const AppRequestContext = z.object({
  /** As in `initialize`. */
  token: z.string(),
  /** Names this request and its response; unguessable, and valid until the response has ended. */
  exchange: z.string(),
  /** Public origin of the server. */
  origin: z.string(),
  has_server_route: z.boolean(),
  /** Address of the client. */
  remote_address: z.string().optional(),
  /** The caller; absent without authentication. */
  auth: z.object({ user: z.unknown(), scopes: z.array(z.string()) }).optional(),
});

/**
 * Context of a request to the server (host → server). Without `exchange` it is a new request of the project's code. With
 * it the app forwards the request of this exchange, or with `body` reads the body of a response that it got so.
 */
export const ServerRequestContext = z.object({
  token: z.string(),
  exchange: z.string().optional(),
  body: z.number().int().optional(),
});

/** A response of the server's own routes. Its body stays at the server: a number there, absent if there is none. */
export const ForwardedResponse = z.object({
  status: z.number().int(),
  headers: z.array(z.tuple([z.string(), z.string()])),
  body: z.number().int().optional(),
});

/** The server's answer to a forwarded request. */
export const ForwardAnswer = z.object({ forwarded: ForwardedResponse });

/**
 * An answer of the app that is not a response of its own: a forwarded response, whose body it did not touch and which the
 * server therefore sends by itself, or an error. `exchange` proves that no user code wrote it.
 */
export const AppAnswer = z.union([
  z.object({ exchange: z.string(), forwarded: ForwardedResponse }),
  z.object({
    exchange: z.string(),
    error: WireErrorSchema,
    /** The `statusCode` that Node's frameworks give to errors. */
    status_code: z.number().int().optional(),
  }),
]);

export type AppRequestContext = z.infer<typeof AppRequestContext>;
export type ServerRequestContext = z.infer<typeof ServerRequestContext>;
export type ForwardedResponse = z.infer<typeof ForwardedResponse>;
export type AppAnswer = z.infer<typeof AppAnswer>;

/** Limit of all headers, bytes: a context holds the caller, an answer perhaps an error with its stack. */
export const MAX_HEADER_BYTES = 4 * 1024 * 1024;

/** Without time-outs: the server's own listener has them, and here it may be a slow client that is waited for. */
export const LISTENER_OPTIONS: ServerOptions = {
  maxHeaderSize: MAX_HEADER_BYTES,
  requestTimeout: 0,
  headersTimeout: 0,
  keepAliveTimeout: 0,
};

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function decoded<T>(shape: z.ZodType<T>, text: unknown): T | undefined {
  if (typeof text !== 'string') return undefined;
  return tryOrUndefined(() => shape.parse(JSON.parse(Buffer.from(text, 'base64url').toString())));
}

export function contextHeader(context: AppRequestContext | ServerRequestContext): Record<string, string> {
  return { [CONTEXT_HEADER]: encoded(context) };
}

/** Takes the context from a request. Returns `undefined` if there is none, or if its token is another. */
export function takeContext<T extends { readonly token: string }>(
  shape: z.ZodType<T>,
  request: IncomingMessage,
  token: string,
): T | undefined {
  const { headers, rawHeaders } = request;
  const context = decoded(shape, headers[CONTEXT_HEADER]);
  delete headers[CONTEXT_HEADER];
  const at = rawHeaders.findIndex((name, i) => i % 2 === 0 && name.toLowerCase() === CONTEXT_HEADER);
  if (at >= 0) rawHeaders.splice(at, 2);
  return context?.token === token ? context : undefined;
}

/** Ends a response with an answer in its header. */
export function sendAnswer(
  response: ServerResponse,
  answer: AppAnswer | z.infer<typeof ForwardAnswer>,
): void {
  response.writeHead(200, { [ANSWER_HEADER]: encoded(answer), 'content-length': 0 }).end();
}

/** The answer in the header of a response, if there is one. */
export function answerOf<T>(shape: z.ZodType<T>, { headers }: IncomingMessage): T | undefined {
  return decoded(shape, headers[ANSWER_HEADER]);
}

/** Headers that concern one connection only, or the two ends of it. */
const HOP_BY_HOP = ['connection', 'keep-alive', 'transfer-encoding', 'upgrade', 'expect'];

/** The headers that pass through a proxy. */
export function endToEndHeaders<T extends IncomingHttpHeaders | NodeJS.Dict<string[]>>(headers: T): T {
  const passed = Object.entries(headers).filter(
    ([name]) => ![...HOP_BY_HOP, CONTEXT_HEADER, ANSWER_HEADER].includes(name),
  );
  return Object.fromEntries(passed) as T;
}

/** Whether a request has a body. */
export function hasBody({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = headers;
  return encoding !== undefined || length !== '0';
}

import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { consumedBody, type NodeHandler } from '../../http/custom-app/adapters.ts';
import { type ForwardedResponse, hasBody, sendAnswer } from '../protocol/http.ts';
import type { AppExchange } from './forwarding.ts';

/** Lets a handler of Node's kind answer. What it passes on with `next` is forwarded. Throws what it passes to `next`. */
export async function answerByHandler(handle: NodeHandler, exchange: AppExchange): Promise<void> {
  const { request, response, context, forwards } = exchange;
  const { method = 'GET', url: path = '/' } = request;
  Object.assign(request, { auth: context.auth });
  if (await isHandled(handle, exchange)) return;
  const unread = hasBody(request) && !request.readableEnded ? request : undefined;
  const body = consumedBody(request) ?? unread;
  // As middleware left them: it may have added a key.
  const { headers } = request;
  const forwarded = await forwards.send(context.exchange, { method, path, headers, body });
  if (isObserved(response) && forwarded.body !== undefined) {
    return carry(response, forwarded, await forwards.open(context.exchange, forwarded.body));
  }
  const own = Object.entries(response.getHeaders()).filter(
    ([name]) => !forwarded.headers.some(([other]) => other === name),
  );
  sendAnswer(response, {
    exchange: context.exchange,
    forwarded: {
      ...forwarded,
      headers: [...own.flatMap(([name, value]) => pairs(name, value)), ...forwarded.headers],
    },
  });
}

/** Resolves to false if the handler calls `next`; it then does not own the response. */
function isHandled(handle: NodeHandler, { request, response }: AppExchange): Promise<boolean> {
  return new Promise<boolean>((resolve, reject) => {
    response.once('close', () => resolve(true));
    const next = (error?: unknown) =>
      error === undefined || error === null ? resolve(false) : reject(error);
    Promise.resolve(handle(request, response, next)).catch(reject);
  });
}

/** Whether middleware wants to see what is written, as those do that compress. */
function isObserved(response: ServerResponse): boolean {
  return ['write', 'end', 'writeHead'].some((name) => Object.hasOwn(response, name));
}

async function carry(
  response: ServerResponse,
  { status, headers }: ForwardedResponse,
  body: IncomingMessage,
): Promise<void> {
  response.statusCode = status;
  for (const name of new Set(headers.map(([each]) => each))) response.removeHeader(name);
  for (const [name, value] of headers) response.appendHeader(name, value);
  await pipeline(body, response).catch(() => response.destroy());
}

function pairs(name: string, value: number | string | string[] | undefined): [string, string][] {
  return [value ?? []].flat().map((each) => [name, String(each)]);
}

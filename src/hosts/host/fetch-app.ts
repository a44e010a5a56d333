import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { type FetchContext, headerList } from '../../http/custom-app/adapters.ts';
import { hasBody, sendAnswer } from '../protocol/http.ts';
import type { AppExchange } from './forwarding.ts';
import { fetchForwarding } from './forwarding.ts';
import { webStream } from './server-client.ts';

/** Answers with what an app returns that is called like `fetch`. Throws what it throws. */
export async function answerByFetch(
  fetch: (request: Request, context: FetchContext) => Promise<Response>,
  { request: raw, response, context, forwards }: AppExchange,
): Promise<void> {
  const { exchange, origin, has_server_route, auth } = context;
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const { method, url } = raw;
  const isReadable = method !== 'GET' && method !== 'HEAD' && hasBody(raw);
  const request = new Request(origin + url, {
    method: method as string,
    headers: headerList(raw),
    signal: gone.signal,
    ...(isReadable && { body: webStream(raw), duplex: 'half' }),
  });
  const forward = fetchForwarding(forwards, exchange);
  const answer = await fetch(request, {
    auth: auth && { user: auth.user, scopes: auth.scopes },
    has_server_route,
    forward: forward.send,
  });
  const body = forward.untouchedBody(answer);
  if (body === undefined) return sendResponse(response, answer);
  sendAnswer(response, {
    exchange,
    forwarded: { status: answer.status, headers: [...answer.headers], body },
  });
}

/** Throws if the body fails. The head is sent with its first bytes. */
async function sendResponse(response: ServerResponse, { status, headers, body }: Response): Promise<void> {
  response.statusCode = status;
  for (const [name, value] of headers) response.appendHeader(name, value);
  if (!body) return void response.end();
  const reader = body.getReader();
  const closed = once(response, 'close');
  void closed.then(() => reader.cancel()).catch(() => {});
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    if (!response.write(value)) await Promise.race([once(response, 'drain'), closed]);
  }
  response.end();
}

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

export type Handler = (
  request: Request,
  context: { params: Promise<{ _path: string[] }> },
) => Promise<Response>;

interface NextFile {
  readonly type: string;
  readonly body: string;
}

/**
 * What Next.js makes of the route handlers below `/api`, as far as these can tell. `files`: what it serves besides, by path.
 */
export async function startNext(
  handlers: Readonly<Record<string, Handler>>,
  files: Readonly<Record<string, NextFile>> = {},
) {
  const listener = createServer(async (incoming, outgoing) => {
    const { method = 'GET', headers, url = '/' } = incoming;
    const path = new URL(url, 'http://next.test').pathname;
    const file = files[path];
    if (file !== undefined) return outgoing.setHeader('content-type', file.type).end(file.body);
    const gone = new AbortController();
    outgoing.on('close', () => gone.abort());
    const hasBody = method !== 'GET' && method !== 'HEAD';
    const request = new Request(`http://next.test${url}`, {
      method,
      headers: headers as Record<string, string>,
      signal: gone.signal,
      ...(hasBody ? { body: Readable.toWeb(incoming), duplex: 'half' } : {}),
    } as RequestInit);
    const _path = path.split('/').slice(2).map(decodeURIComponent);
    const answer = await handlers[method]?.(request, { params: Promise.resolve({ _path }) });
    outgoing.writeHead(answer?.status ?? 405, Object.fromEntries(answer?.headers ?? []));
    // A browser that leaves breaks it off.
    if (answer?.body) await pipeline(Readable.fromWeb(answer.body as never), outgoing).catch(() => {});
    else outgoing.end();
  }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  return {
    url: `http://127.0.0.1:${(listener.address() as AddressInfo).port}/api`,
    [Symbol.dispose]: () => void listener.close().closeAllConnections(),
  };
}

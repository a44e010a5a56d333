import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addAbortSignal, type Duplex } from 'node:stream';
import { createServer, request as httpRequest } from '../../../../core/node-http.ts';
import type { CheckAddress } from '../request.ts';
import {
  connectToProxy,
  proxyCredentials,
  type Target,
  tunnelThrough,
  type UpstreamProxy,
} from './upstream-proxy.ts';

/** An HTTP proxy for the processes of a build, which have no network of their own. */
export interface Egress extends Disposable {
  /** Folder with its socket, to be mounted at `EGRESS_FOLDER`. */
  readonly folder: string;
  /** Settings with which package managers, git and Node use the proxy. */
  readonly env: Readonly<Record<string, string>>;
}

/** Where the build finds the folder of the proxy. */
export const EGRESS_FOLDER = '/run/egress';
const SOCKET = 'proxy';
const PROXY_URL = 'http://127.0.0.1:3128';

/**
 * Runs a command behind a port of its own network, whose connections it passes to the socket of the proxy: package
 * managers know no proxies on sockets. Arguments: the socket, then the command.
 */
export const BRIDGE = `
const net = require('node:net');
const [socket, program, ...rest] = process.argv.slice(1);
const server = net.createServer((client) => {
  const proxy = net.connect(socket);
  for (const [from, to] of [[client, proxy], [proxy, client]]) from.on('error', () => to.destroy()).pipe(to);
});
server.listen(3128, '127.0.0.1', () => {
  const child = require('node:child_process').spawn(program, rest, { stdio: 'inherit' });
  child.on('error', () => process.exit(127));
  child.on('exit', (code, signal) => (signal ? process.kill(process.pid, signal) : process.exit(code)));
});
`;

/** Path of the proxy's socket in the build. */
export const EGRESS_SOCKET = `${EGRESS_FOLDER}/${SOCKET}`;

export interface EgressOptions {
  readonly checkAddress: CheckAddress;
  /** Reports what the build could not connect to, and why. */
  readonly onRefused: (host: string, reason: string) => void;
  /** Through which proxy the server itself must go. */
  readonly upstream: UpstreamProxy;
}

/** Opens a proxy that connects only to addresses that `checkAddress` permits; the others are reported. */
export async function openEgress(options: EgressOptions): Promise<Egress> {
  const folder = mkdtempSync(join(tmpdir(), 'agent-server-egress-'));
  const server = createServer((request, response) => {
    forward(request, response, options).catch(() => response.destroy());
  });
  const sockets = new Set<Duplex>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('connect', (request: IncomingMessage, client: Duplex, head: Buffer) => {
    void tunnel(request, { client, head }, options);
  });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject).listen(join(folder, SOCKET), resolve);
  await promise;
  // Builds may run as another user.
  chmodSync(folder, 0o711);
  chmodSync(join(folder, SOCKET), 0o666);
  return {
    folder,
    env: proxyEnvironment(),
    [Symbol.dispose]() {
      server.close();
      for (const socket of sockets) socket.destroy();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function proxyEnvironment(): Record<string, string> {
  const names = [
    'HTTP_PROXY',
    'HTTPS_PROXY',
    'http_proxy',
    'https_proxy',
    'ALL_PROXY',
    'all_proxy',
    'YARN_HTTP_PROXY',
    'YARN_HTTPS_PROXY',
  ];
  return {
    ...Object.fromEntries(names.map((name) => [name, PROXY_URL])),
    ...{ NO_PROXY: '', no_proxy: '', NODE_USE_ENV_PROXY: '1' },
  };
}

interface Permitted extends Target {
  /** Address to connect to, if there is no proxy. */
  readonly address: string;
  readonly proxy: URL | undefined;
}

/** `undefined` if the target is refused. */
async function permitted(
  host: string,
  scheme: Target['scheme'],
  { checkAddress, onRefused, upstream }: EgressOptions,
): Promise<Permitted | undefined> {
  const url = URL.parse(`https://${host}`);
  if (!url) return undefined;
  const hostname = url.hostname.replace(/^\[|\]$/g, '');
  const port = Number(/:(\d{1,5})$/.exec(host)?.[1] ?? '80');
  // A host without a port is one of plain http, and the check would take it for 443.
  url.port = String(port);
  const target = { scheme, hostname, port };
  try {
    const pinned = await checkAddress(url);
    return { ...target, address: pinned ?? hostname, proxy: upstream(target) };
  } catch (error) {
    onRefused(url.host, (error as Error).message);
    return undefined;
  }
}

/** `CONNECT`: what is sent through https. */
async function tunnel(
  { url = '' }: IncomingMessage,
  { client, head }: { readonly client: Duplex; readonly head: Buffer },
  options: EgressOptions,
): Promise<void> {
  client.on('error', () => client.destroy());
  const gone = new AbortController();
  client.once('close', () => gone.abort());
  const target = await permitted(url, 'https', options);
  if (!target) return void client.end('HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\n');
  let remote: Duplex;
  try {
    remote = await connected(target, gone.signal);
  } catch (error) {
    if (client.destroyed) return;
    options.onRefused(url, (error as Error).message);
    return void client.end('HTTP/1.1 502 Bad Gateway\r\nconnection: close\r\n\r\n');
  }
  if (client.destroyed) return void remote.destroy();
  gone.signal.addEventListener('abort', () => remote.destroy());
  remote.on('error', () => client.destroy());
  client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
  remote.write(head);
  client.pipe(remote).pipe(client);
}

async function connected(target: Permitted, signal: AbortSignal): Promise<Duplex> {
  if (target.proxy) return tunnelThrough(target.proxy, target, signal);
  const socket = addAbortSignal(signal, connect({ host: target.address, port: target.port }));
  await once(socket, 'connect');
  return socket;
}

/** A request with an absolute URL: plain http. */
async function forward(
  request: IncomingMessage,
  response: ServerResponse,
  options: EgressOptions,
): Promise<void> {
  const url = URL.parse(request.url ?? '');
  const target = url?.protocol === 'http:' ? await permitted(url.host, 'http', options) : undefined;
  if (!url || !target) return void response.writeHead(403, { connection: 'close' }).end();
  const { 'proxy-connection': _, 'proxy-authorization': _1, ...headers } = passedOn(request.headers);
  const { proxy, address: host, port } = target;
  const path = url.pathname + url.search;
  const where = proxy
    ? {
        path: `http://${url.host}${path}`,
        headers: { ...headers, ...proxyCredentials(proxy) },
        createConnection: () => connectToProxy(proxy),
      }
    : { host, port, path, headers };
  const outgoing = httpRequest({ ...where, method: request.method }, (answer) => {
    try {
      response.writeHead(answer.statusCode ?? 502, passedOn(answer.headers));
      answer.on('error', () => response.destroy()).pipe(response);
    } catch {
      // Such as a status below 100, which Node parses but does not write.
      response.writeHead(502, { connection: 'close' }).end();
    }
  });
  outgoing.on('error', () => response.destroy());
  response.once('close', () => outgoing.destroy());
  request.pipe(outgoing);
}

/** Node throws for `Trailer` unless the body is chunked, and trailers are not passed on anyway. */
function passedOn({ trailer: _, expect: _1, ...headers }: IncomingHttpHeaders): IncomingHttpHeaders {
  return headers;
}

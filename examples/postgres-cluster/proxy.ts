import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';

/**
 * Hands each request to the next of the servers that `alive` returns. For trying out only: no WebSockets, no health
 * checks, and a request whose server goes away is answered with 502.
 */
export function roundRobinProxy(alive: () => readonly string[]): Server {
  let count = 0;
  return createServer((asked, answer) => {
    const urls = alive();
    const url = urls[count++ % urls.length];
    if (url === undefined) answer.writeHead(503, { 'Retry-After': '1' }).end();
    else pass(url, asked, answer);
  });
}

function pass(server: string, asked: IncomingMessage, answer: ServerResponse): void {
  const { method = 'GET', url = '/', headers } = asked;
  const passed = request(new URL(url, server), { method, headers }, (given) => {
    answer.writeHead(given.statusCode ?? 502, given.headers);
    // A stream is open before its first frame.
    answer.flushHeaders();
    given.pipe(answer);
    // A stream that its server breaks off must not look complete.
    given.on('error', () => answer.destroy());
  });
  passed.on('error', () => (answer.headersSent ? answer.destroy() : answer.writeHead(502).end()));
  answer.on('close', () => passed.destroy());
  asked.pipe(passed);
}

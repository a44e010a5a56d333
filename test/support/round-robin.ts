import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface RoundRobin extends AsyncDisposable {
  readonly url: string;
  /** How many requests each of them got. */
  readonly shares: readonly number[];
}

/** A proxy that hands each request to the next of the servers, whatever the one before was about. */
export async function roundRobin(...urls: readonly string[]): Promise<RoundRobin> {
  const shares = urls.map(() => 0);
  let count = 0;
  const proxy = createServer((asked, answer) => {
    const next = count++ % urls.length;
    shares[next] = (shares[next] ?? 0) + 1;
    const { method = '', url = '', headers } = asked;
    const passed = request(`${urls[next]}${url}`, { method, headers }, (given) => {
      answer.writeHead(given.statusCode ?? 502, given.headers);
      given.pipe(answer);
    });
    passed.on('error', () => answer.destroy());
    answer.on('close', () => passed.destroy());
    asked.pipe(passed);
  });
  await new Promise<void>((listening) => proxy.listen(0, '127.0.0.1', listening));
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    shares,
    async [Symbol.asyncDispose]() {
      proxy.closeAllConnections();
      await new Promise((closed) => proxy.close(closed));
    },
  };
}

import { resolve } from 'node:path';
import { type HttpClient, httpClient } from '../support/http-client.ts';
import { startServer, type TestServer } from '../support/server.ts';

export interface ChaosServer extends AsyncDisposable {
  readonly process: TestServer;
  readonly http: HttpClient;
}

/** A server with the graphs of this folder, and a client for it. `env` sets what the configuration leaves open. */
export async function startChaosServer(env: Readonly<Record<string, string>> = {}): Promise<ChaosServer> {
  const process = await startServer({ config: resolve(import.meta.dirname, 'agent.config.yaml'), env });
  const http = httpClient(process.url);
  return {
    process,
    http,
    async [Symbol.asyncDispose]() {
      http[Symbol.dispose]();
      await process[Symbol.asyncDispose]();
    },
  };
}

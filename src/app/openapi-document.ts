import { ConfigFile } from '../config/config-file.ts';
import type { Config } from '../config/schema.ts';
import { systemClock } from '../core/clock.ts';
import { systemIds } from '../core/ids.ts';
import { silentLogger } from '../core/logger.ts';
import type { Core } from '../extensions/extension.ts';
import { openMeters } from '../http/metrics/meters.ts';
import { createServer } from '../http/server.ts';
import type { ServerDeps } from '../http/server-deps.ts';
import { Riders } from '../storage/riders.ts';
import { openExtensions } from './extensions.ts';

/** OpenAPI document of a server with the default configuration. The services are stubs, because no request is served. */
export async function openApiDocument(version: string): Promise<object> {
  const config = ConfigFile.parse({ graphs: { any: './any.ts:graph' } });
  const { http, server } = config;
  const core = {
    config,
    logger: silentLogger,
    root: '.',
    storage: { riders: new Riders([]), work: {}, database: {} },
    access: {},
    services: {},
    mask: String,
  };
  await using extensions = await openExtensions(config as unknown as Config, core as unknown as Core);
  await using document = await createServer({
    services: {} as ServerDeps['services'],
    engine: { onRunEnded: () => {}, onStepsStored: () => {} } as unknown as ServerDeps['engine'],
    meters: openMeters({ prefix: 'lg_api_' }),
    options: { ...http, ...server },
    auth: { authenticate: undefined, has_users: false, issuers: [] },
    info: { version, langgraph_version: null, graph_ids: [], crons: true },
    logger: silentLogger,
    process: { worker_id: '', host: '', pid: 0 },
    clock: systemClock,
    ids: systemIds(systemClock),
    extensions,
  });
  return document.openApiDocument();
}

import { Deployments } from '../config/sections/deployments.ts';
import { Http, Studio } from '../config/sections/http.ts';
import { Server } from '../config/sections/server.ts';
import { systemClock } from '../core/clock.ts';
import { systemIds } from '../core/ids.ts';
import { silentLogger } from '../core/logger.ts';
import { openMeters } from '../http/metrics/meters.ts';
import { createServer } from '../http/server.ts';
import type { ServerDeps } from '../http/server-deps.ts';

/** OpenAPI document of a server with every route. The services are stubs, because no request is served. */
export async function openApiDocument(version: string): Promise<object> {
  await using server = await createServer({
    services: {} as ServerDeps['services'],
    engine: { onRunEnded: () => {}, onStepsStored: () => {} } as unknown as ServerDeps['engine'],
    meters: openMeters({ prefix: 'lg_api_', internal: false }),
    options: {
      ...Http.parse({}),
      ...Server.parse({}),
      deployments: Deployments.parse({}),
      studio_path: Studio.parse({}).path,
    },
    auth: { authenticate: undefined, has_users: false, issuers: [] },
    info: { version, langgraph_version: null, graph_ids: [], crons: true },
    logger: silentLogger,
    process: { worker_id: '', host: '', pid: 0 },
    clock: systemClock,
    ids: systemIds(systemClock),
  });
  return server.openApiDocument();
}

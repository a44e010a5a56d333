import { Http } from '../config/sections/http.ts';
import { Server } from '../config/sections/server.ts';
import { systemClock } from '../core/clock.ts';
import { systemIds } from '../core/ids.ts';
import { silentLogger } from '../core/logger.ts';
import { createServer } from '../http/server.ts';
import type { ServerParts } from '../http/server-parts.ts';

/** The OpenAPI document of a server with every route. Nothing is served, so there is nothing behind the routes. */
export async function openApiDocument(version: string): Promise<object> {
  await using server = await createServer({
    services: {} as ServerParts['services'],
    engine: { onRunEnded: () => {} } as ServerParts['engine'],
    options: { ...Http.parse({}), ...Server.parse({}) },
    auth: { authenticate: undefined, has_users: false, issuers: [] },
    info: { version, langgraph_version: null, graph_ids: [], crons: true },
    logger: silentLogger,
    ids: systemIds(systemClock),
  });
  return server.swagger();
}

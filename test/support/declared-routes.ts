import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { FastifyInstance, RouteOptions } from 'fastify';

/** Fastify announces each server that it makes here, before any of its routes. */
const CHANNEL = 'fastify.initialization';

/** The routes of the servers that `open` starts, as they are declared: Fastify does not list them afterwards. */
export async function declaredRoutes<T extends AsyncDisposable>(open: () => Promise<T>) {
  const routes: RouteOptions[] = [];
  const onServer = (message: unknown) => {
    const { fastify } = message as { fastify: FastifyInstance };
    fastify.addHook('onRoute', (route) => {
      routes.push(route);
    });
  };
  subscribe(CHANNEL, onServer);
  try {
    await using _server = await open();
    return routes;
  } finally {
    unsubscribe(CHANNEL, onServer);
  }
}

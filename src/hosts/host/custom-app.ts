import { once } from 'node:events';
import type { Logger } from '../../core/logger.ts';
import { createServer } from '../../core/node-http.ts';
import { importFromProject } from '../../graphs/project/load.ts';
import { adaptCustomApp, type LocalApp } from '../../http/custom-app/adapters.ts';
import { toWireError } from '../protocol/errors.ts';
import { AppRequestContext, LISTENER_OPTIONS, sendAnswer, takeContext } from '../protocol/http.ts';
import type { HostMethods, Params, Result } from '../protocol/messages.ts';
import { answerByFetch } from './fetch-app.ts';
import type { AppExchange } from './forwarding.ts';
import { type Forwarding, forwarding } from './forwarding.ts';
import { answerByHandler } from './node-app.ts';
import type { ServerClient } from './server-client.ts';

type Initialize = Params<HostMethods, 'initialize'>;

/** The project's app, and how to end it. */
export interface ServedApp {
  readonly loaded: Result<HostMethods, 'initialize'>['app'];
  /** Ends it as its framework does, such as with the `onClose` hooks of a Fastify plugin. Its failure is logged. */
  close(): Promise<void>;
}

/** Loads the project's app, and serves it to the server. What is wrong with it becomes part of the result. */
export async function serveCustomApp(
  { root, http }: Initialize,
  client: ServerClient,
  logger: Logger,
): Promise<ServedApp> {
  if (http.app === undefined) return { loaded: undefined, close: async () => {} };
  try {
    const app = await importFromProject(http.app, root, adaptCustomApp);
    const close = await listen(app, http, { forwards: forwarding(client), logger });
    return {
      loaded: { kind: 'fetch' in app ? 'fetch' : 'handle', routes: [...app.routes] },
      close: () => close().catch((error: unknown) => logger.error('http.app failed to close', { error })),
    };
  } catch (error) {
    return { loaded: { error: toWireError(error) }, close: async () => {} };
  }
}

async function listen(
  app: LocalApp,
  { app_socket, token }: Initialize['http'],
  { forwards, logger }: { readonly forwards: Forwarding; readonly logger: Logger },
): Promise<() => Promise<void>> {
  const listener = createServer(LISTENER_OPTIONS, (request, response) => {
    const context = takeContext(AppRequestContext, request, token);
    if (context) void answer(app, { request, response, context, forwards }, logger);
    else response.writeHead(403).end();
  });
  listener.listen(app_socket);
  await once(listener, 'listening');
  return async () => {
    listener.close();
    listener.closeIdleConnections();
    if ('handle' in app) await app.close?.();
  };
}

async function answer(app: LocalApp, exchange: AppExchange, logger: Logger): Promise<void> {
  const { request, response, context } = exchange;
  // Frameworks take the client's address from here; a connection serves one request at a time.
  Object.defineProperty(request.socket, 'remoteAddress', {
    value: context.remote_address,
    configurable: true,
  });
  // The server sets the date, unless the app does.
  response.sendDate = false;
  try {
    if ('fetch' in app) await answerByFetch(app.fetch, exchange);
    else await answerByHandler(app.handle, exchange);
  } catch (error) {
    sendError(exchange, error, logger);
  }
}

/** The server answers for the app, and logs the error. A response that has begun is cut off, and its error logged here. */
function sendError({ response, context }: AppExchange, error: unknown, logger: Logger): void {
  if (response.headersSent) {
    // Code whose client has left often fails because of that.
    if (!response.destroyed) logger.error('http.app failed after its response began', { error });
    return void response.destroy();
  }
  for (const name of response.getHeaderNames()) response.removeHeader(name);
  const { statusCode } = Object(error) as { statusCode?: unknown };
  sendAnswer(response, {
    exchange: context.exchange,
    error: toWireError(error),
    ...(Number.isInteger(statusCode) && { status_code: statusCode as number }),
  });
}

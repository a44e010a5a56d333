import type { Config } from '../config/schema.ts';
import { loadProjectValue } from '../graphs/project-value.ts';
import { answerInside } from '../http/inside.ts';
import type { RegisterMcp } from '../http/mcp/own-tools.ts';
import { type OwnApp, ownAppOf } from '../http/own-app/kinds.ts';
import type { WebhookAnswer, WebhookRequest } from '../workers/webhook-request.ts';
import { fromConfig } from './from-config.ts';

/** The project's own routes. Throws in one line what is wrong with them. */
export async function openOwnApp(config: Config): Promise<OwnApp | undefined> {
  const { app } = config.http;
  if (app === undefined) return undefined;
  return fromConfig(config, 'http.app', loadProjectValue(app, config.root, ownAppOf));
}

/** What adds the project's own tools to those of the assistants. Throws in one line what is wrong with it. */
export async function openOwnTools(config: Config): Promise<RegisterMcp | undefined> {
  const { app } = config.mcp;
  if (app === undefined) return undefined;
  return fromConfig(config, 'mcp.app', loadProjectValue(app, config.root, registrationOf));
}

function registrationOf(exported: unknown): RegisterMcp {
  if (typeof exported !== 'function') throw new Error(`expected a function, got ${typeof exported}`);
  return exported as RegisterMcp;
}

/** A webhook whose address is a path: for the project's own routes, and for no others. */
export async function postInside(
  server: Parameters<typeof answerInside>[0],
  { url, headers, body }: WebhookRequest,
  signal: AbortSignal,
): Promise<WebhookAnswer> {
  const request = new Request(new URL(url, 'http://localhost'), { method: 'POST', headers, body, signal });
  const answer = await answerInside(server, request, { own_routes_only: true });
  return {
    status: answer.status,
    retry_after: answer.headers.get('retry-after') ?? undefined,
    redirect: undefined,
    text: (await answer.text()).slice(0, 1024),
  };
}

import type { Config } from '../config/schema.ts';
import { importFromProject } from '../graphs/project/load.ts';
import { adaptCustomApp, type CustomApp } from '../http/custom-app/adapters.ts';
import { handleInProcess } from '../http/in-process.ts';
import type { RegisterCustomTools } from '../http/mcp/custom-tools.ts';
import type { WebhookRequest, WebhookResponse } from '../workers/webhook-request.ts';
import { loadConfigured } from './load-configured.ts';

/** Loads the custom app. Throws a one-line error if it is invalid. */
export async function openCustomApp(config: Config): Promise<CustomApp | undefined> {
  const { app } = config.http;
  if (app === undefined) return undefined;
  return loadConfigured(config, 'http.app', importFromProject(app, config.root, adaptCustomApp));
}

/** Loads the project's MCP registration function. Throws a one-line error if it is invalid. */
export async function openCustomTools(config: Config): Promise<RegisterCustomTools | undefined> {
  const { app } = config.mcp;
  if (app === undefined) return undefined;
  return loadConfigured(config, 'mcp.app', importFromProject(app, config.root, registrationOf));
}

function registrationOf(exported: unknown): RegisterCustomTools {
  if (typeof exported !== 'function') throw new Error(`expected a function, got ${typeof exported}`);
  return exported as RegisterCustomTools;
}

/** Delivers a webhook whose URL is a path: to custom routes only. */
export async function postInProcess(
  server: Parameters<typeof handleInProcess>[0],
  { url, headers, body }: WebhookRequest,
  signal: AbortSignal,
): Promise<WebhookResponse> {
  const request = new Request(new URL(url, 'http://localhost'), { method: 'POST', headers, body, signal });
  const answer = await handleInProcess(server, request, { custom_routes_only: true });
  return {
    status: answer.status,
    retry_after: answer.headers.get('retry-after') ?? undefined,
    redirect: undefined,
    text: (await answer.text()).slice(0, 1024),
  };
}

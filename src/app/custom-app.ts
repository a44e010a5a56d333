import { loadConfigured } from '../config/load-configured.ts';
import type { Config } from '../config/schema.ts';
import { importFromProject } from '../graphs/project/load.ts';
import type { Asking } from '../hosts/pool/ask.ts';
import { hostedApp } from '../hosts/pool/custom-app.ts';
import { adaptCustomApp } from '../http/custom-app/adapters.ts';
import { handleInProcess } from '../http/in-process.ts';
import type { CustomApp } from '../http/plugins/custom-app.ts';
import { storedHeaders } from '../workers/webhook-answer.ts';
import type { WebhookRequest, WebhookResponse } from '../workers/webhook-request.ts';

/** Loads the custom app, in graph hosts if there are any. Throws a one-line error if it is invalid. */
export async function openCustomApp(config: Config, hosts?: Asking): Promise<CustomApp | undefined> {
  const { app } = config.http;
  if (app === undefined) return undefined;
  const loaded = hosts ? hostedApp(hosts.pool) : importFromProject(app, config.root, adaptCustomApp);
  return loadConfigured<CustomApp>(config, 'http.app', loaded);
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
    headers: storedHeaders(answer.headers),
    text: (await answer.text()).slice(0, 1024),
  };
}

import { basename, resolve } from 'node:path';
import { ConfigError } from '../config/problems.ts';
import type { Config } from '../config/schema.ts';
import { loadValue } from '../graphs/load.ts';
import { publicText } from '../graphs/load-error.ts';
import { answerInside } from '../http/inside.ts';
import { type OwnApp, ownAppOf } from '../http/own-app/kinds.ts';
import type { WebhookAnswer, WebhookRequest } from '../workers/webhook-request.ts';

/** The project's own routes. Throws in one line what is wrong with them. */
export async function openOwnApp({ http: { app }, root, file }: Config): Promise<OwnApp | undefined> {
  if (app === undefined) return undefined;
  const colon = app.lastIndexOf(':');
  try {
    return await ownAppOf(await loadValue(resolve(root, app.slice(0, colon)), app.slice(colon + 1)));
  } catch (cause) {
    const source = file === undefined ? 'configuration' : basename(file);
    throw new ConfigError([`${source}: http.app: ${publicText(cause, root)}`]);
  }
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

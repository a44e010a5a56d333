import { createServer, type Server } from 'node:http';
import { text } from 'node:stream/consumers';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';

/** What the server tells of a run that has ended; there is more in it. */
export interface EndedRun {
  readonly run_id: string;
  readonly thread_id: string;
  readonly status: 'success' | 'error' | 'timeout' | 'interrupted' | 'rollback';
  /** The state of the thread; null for a run without one. */
  readonly values: unknown;
  readonly error?: { readonly error: string; readonly message: string };
}

/**
 * Believes only what was signed with the secret, a few minutes ago at most, and takes everything once: a delivery whose
 * answer was lost on the way comes again under the same id. A receiver that matters keeps the ids in its database.
 */
export function webhookReceiver(secret: string, onEnd: (run: EndedRun) => void): Server {
  const webhook = new Webhook(secret);
  const seen = new Set<string>();
  return createServer(async (request, response) => {
    try {
      const run = webhook.verify(await text(request), request.headers as Record<string, string>) as EndedRun;
      const id = String(request.headers['webhook-id']);
      if (!seen.has(id)) onEnd(run);
      seen.add(id);
      response.writeHead(204).end();
    } catch (error) {
      // 401 is final; after 500 the server tries again.
      response.writeHead(error instanceof WebhookVerificationError ? 401 : 500).end();
    }
  });
}

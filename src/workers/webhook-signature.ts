import { createHmac } from 'node:crypto';

/**
 * The headers of Standard Webhooks: who receives them can tell that the body comes from here, when it was sent, and
 * whether it came before. One signature for each secret, so that a receiver may know the old or the new one.
 */
export function signedHeaders(
  { id, at_ms, body }: { readonly id: string; readonly at_ms: number; readonly body: string },
  secrets: readonly string[],
): Record<string, string> {
  const seconds = String(Math.floor(at_ms / 1000));
  const signatures = secrets.map((secret) => `v1,${signature(secret, `${id}.${seconds}.${body}`)}`);
  return {
    'webhook-id': id,
    'webhook-timestamp': seconds,
    ...(signatures.length > 0 && { 'webhook-signature': signatures.join(' ') }),
  };
}

function signature(secret: string, text: string): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  return createHmac('sha256', key).update(text).digest('base64');
}

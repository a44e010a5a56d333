import { createHmac } from 'node:crypto';

/**
 * Headers of Standard Webhooks: the receiver can verify origin and time of the body, and detect replays. One signature
 * per secret, so that secrets can be rotated.
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

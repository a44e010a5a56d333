import { toJson } from '../../core/json.ts';
import { maskSecrets } from '../../core/mask-secrets.ts';
import type { DeliveryRequest } from '../../schemas/webhooks.ts';

/** Of a body, characters: it has the values of a thread, which may be megabytes. */
const MAX_PREVIEW = 65_536;

interface DeliveryContent {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What a delivery sends, without known secrets: the body of a run names the URL, which is often a secret itself. */
export function redactedRequest(
  { url, headers, body }: DeliveryContent,
  masked_url: string,
): DeliveryRequest {
  const withoutUrl = url === masked_url ? body : body.replaceAll(inJson(url), inJson(masked_url));
  // Masked before it is cut, as half a secret is not known as one.
  const masked = maskSecrets(withoutUrl.slice(0, 2 * MAX_PREVIEW));
  return {
    header_names: Object.keys(headers),
    body: masked.slice(0, MAX_PREVIEW),
    body_length: body.length,
  };
}

function inJson(text: string): string {
  return toJson(text).slice(1, -1);
}

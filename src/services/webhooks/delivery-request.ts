import { toJson } from '../../core/json.ts';
import { maskSecrets } from '../../core/mask-secrets.ts';
import type { DeliveryRequest } from '../../schemas/webhooks.ts';

/** Of a body, characters: it has the values of a thread, which may be megabytes. */
const MAX_SHOWN = 65_536;

interface DeliveryContent {
  readonly url: string;
  /** The URL without its secrets. */
  readonly shown_url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What a delivery sends, to look at: the body of a run names the URL, which is often a secret itself. */
export function shownRequest({ url, shown_url, headers, body }: DeliveryContent): DeliveryRequest {
  const withoutUrl = url === shown_url ? body : body.replaceAll(inJson(url), inJson(shown_url));
  // Masked before it is cut, as half a secret is not known as one.
  const masked = maskSecrets(withoutUrl.slice(0, 2 * MAX_SHOWN));
  return {
    header_names: Object.keys(headers),
    body: masked.slice(0, MAX_SHOWN),
    body_length: body.length,
  };
}

function inJson(text: string): string {
  return toJson(text).slice(1, -1);
}

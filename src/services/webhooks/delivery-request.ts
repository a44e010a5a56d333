import { toJson } from '../../core/json.ts';
import { maskSecrets } from '../../core/mask-secrets.ts';
import { truncateText } from '../../core/text.ts';
import type { DeliveryRequest } from '../../schemas/webhooks.ts';

/** Of a body, characters: it has the values of a thread, which may be megabytes. */
const MAX_PREVIEW = 65_536;
/** What is read of it; masking makes it shorter. */
const READ = 2 * MAX_PREVIEW;

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
  // Of the secrets at the end, which are cut, the mask knows the beginnings.
  const masked = maskSecrets(truncateText(withoutUrl.slice(0, READ), 3 * READ, withoutUrl.length));
  return {
    header_names: Object.keys(headers),
    body: masked.slice(0, MAX_PREVIEW),
    body_length: body.length,
  };
}

function inJson(text: string): string {
  return toJson(text).slice(1, -1);
}

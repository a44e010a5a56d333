import { maskSecrets } from '../core/mask-secrets.ts';
import { maskUrl } from '../core/redact.ts';
import { truncateText } from '../core/text.ts';

/** Limit of the headers of an answer, bytes of names and values; those beyond it are left out. */
const MAX_BYTES = 4096;
/** Longer values are cut, bytes. */
const MAX_VALUE_BYTES = 1024;

/** Names of headers whose whole value is a secret, or may be. */
const SECRET = /cookie|authorization|token|secret|passw|credential|session|signature|api-?key|csrf|xsrf/;
/** Names of headers that hold an address. */
const ADDRESS = new Set(['location', 'content-location', 'refresh']);

/**
 * Headers of a receiver's answer, as they are stored: names in lower case, values of one name joined, and without
 * secrets.
 */
export function storedHeaders(
  given: Iterable<readonly [name: string, value: string | readonly string[] | undefined]>,
): Record<string, string> {
  const stored: [string, string][] = [];
  let bytes = 0;
  for (const [given_name, given_value = ''] of given) {
    const name = given_name.toLowerCase();
    const value = withoutSecrets(
      name,
      typeof given_value === 'string' ? given_value : given_value.join(', '),
    );
    bytes += Buffer.byteLength(name) + Buffer.byteLength(value);
    if (bytes > MAX_BYTES) break;
    stored.push([name, value]);
  }
  return Object.fromEntries(stored);
}

function withoutSecrets(name: string, value: string): string {
  if (SECRET.test(name)) return '***';
  const masked = ADDRESS.has(name) ? maskUrl(value) : maskSecrets(value);
  return truncateText(masked, MAX_VALUE_BYTES);
}

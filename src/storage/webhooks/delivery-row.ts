import { toJson } from '../../core/json.ts';
import { type Cipher, openJson, openText } from '../../db/encryption/cipher.ts';
import type { Delivery, DeliveryAttempt } from '../../schemas/webhooks.ts';

/**
 * What of a delivery comes from users: an address is a secret often enough. The host stays plain, for the database finds
 * by it which receivers have something to get.
 */
interface Told {
  readonly url: string;
  readonly shown_url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const URL_COLUMN = 'webhook_outbox.url';
const SHOWN_URL = 'webhook_outbox.shown_url';
const HEADERS = 'webhook_outbox.headers';
const BODY = 'webhook_outbox.body';

export function sealedDelivery(cipher: Cipher, { url, shown_url, headers, body }: Told) {
  return {
    url: cipher.sealText(URL_COLUMN, url),
    shown_url: cipher.sealText(SHOWN_URL, shown_url),
    headers: cipher.sealJson(HEADERS, toJson(headers)),
    body: cipher.sealText(BODY, body),
  };
}

/** Opens a row in place, for sending it. */
export function openDelivery(cipher: Cipher, row: Told): void {
  openText(cipher, row, { url: URL_COLUMN, shown_url: SHOWN_URL, body: BODY });
  openJson(cipher, row, { headers: HEADERS });
}

/** What people see of a delivery: there `url` is the one that may be shown. */
export function openShown(cipher: Cipher, row: Delivery): Delivery {
  return openText(cipher, row, { url: SHOWN_URL });
}

const ERROR = 'webhook_attempts.error';
const ANSWER = 'webhook_attempts.answer';

type Reply = Pick<DeliveryAttempt, 'error' | 'answer'>;

/** What came of a try: an answer may repeat what it was sent. */
export function sealedReply(cipher: Cipher, { error, answer }: Reply): Reply {
  return {
    error: error && cipher.sealText(ERROR, error),
    answer: answer && cipher.sealText(ANSWER, answer),
  };
}

export function openReply(cipher: Cipher, row: DeliveryAttempt): DeliveryAttempt {
  return openText(cipher, row, { error: ERROR, answer: ANSWER });
}

import { toJson } from '../../core/json.ts';
import type { Rows } from '../../db/column-types.ts';
import { type Cipher, decryptJsonColumns, decryptTextColumns } from '../../db/encryption/cipher.ts';
import type { Delivery, DeliveryAttempt } from '../../schemas/webhooks.ts';

/**
 * The user's content of a delivery, encrypted at rest: a URL is often a secret. The host stays in plain text, as the
 * database finds receivers with pending deliveries by it.
 */
interface DeliveryContent {
  readonly url: string;
  readonly shown_url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const URL_COLUMN = 'webhook_outbox.url';
const SHOWN_URL = 'webhook_outbox.shown_url';
const HEADERS = 'webhook_outbox.headers';
const BODY = 'webhook_outbox.body';

export function encryptDelivery(cipher: Cipher, { url, shown_url, headers, body }: DeliveryContent) {
  return {
    url: cipher.encryptText(URL_COLUMN, url),
    shown_url: cipher.encryptText(SHOWN_URL, shown_url),
    headers: cipher.encryptJson(HEADERS, toJson(headers)),
    body: cipher.encryptText(BODY, body),
  };
}

type StoredContent = Pick<Rows['webhook_outbox'], keyof DeliveryContent>;

/** Decrypts a row in place, for sending it. */
export function decryptDelivery<Row extends StoredContent>(cipher: Cipher, row: Row) {
  decryptTextColumns(cipher, row, { url: URL_COLUMN, shown_url: SHOWN_URL, body: BODY });
  return decryptJsonColumns(cipher, row, { headers: HEADERS });
}

/** The public view of a delivery, in which `url` is the masked one. */
export function decryptShownUrl(cipher: Cipher, row: Delivery): Delivery {
  return decryptTextColumns(cipher, row, { url: SHOWN_URL });
}

const ERROR = 'webhook_attempts.error';
const ANSWER = 'webhook_attempts.answer';
const ANSWER_HEADERS = 'webhook_attempts.answer_headers';

type AttemptResult = Pick<DeliveryAttempt, 'error' | 'answer' | 'answer_headers'>;

/** Encrypts the result of an attempt: an answer may echo what it was sent. */
export function encryptAttempt(cipher: Cipher, { error, answer, answer_headers }: AttemptResult) {
  return {
    error: error && cipher.encryptText(ERROR, error),
    answer: answer && cipher.encryptText(ANSWER, answer),
    answer_headers: answer_headers && cipher.encryptJson(ANSWER_HEADERS, toJson(answer_headers)),
  };
}

type StoredAttempt = Omit<Rows['webhook_attempts'], 'delivery_id'>;

export function decryptAttempt(cipher: Cipher, row: StoredAttempt): DeliveryAttempt {
  decryptTextColumns(cipher, row, { error: ERROR, answer: ANSWER });
  return decryptJsonColumns(cipher, row, { answer_headers: ANSWER_HEADERS });
}

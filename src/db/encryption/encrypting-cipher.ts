import { createHmac } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Cipher, Encryptor } from './cipher.ts';

/** Envelope of text: `sealed:`, the key id and `:`, then base64. */
const ENCRYPTED_PREFIX = /^sealed:[a-z0-9]{8}:/;
const PREFIX_LENGTH = 'sealed:'.length + 8 + 1;
/** First byte of the envelope of bytes: never part of valid UTF-8, and so of no JSON or other text. */
const BYTES_MARKER = 0xc0;
const BLIND_INDEX_DIGITS = 24;
/** Most blind indexes recur: words, names, the metadata of each checkpoint. */
const MAX_CACHED_INDEXES = 10_000;
const MAX_CACHED_LENGTH = 100;

/** Encrypts with `encryptor`. Blind indexes also require the database's own key for them (`unlock.ts`). */
export class EncryptingCipher implements Cipher {
  readonly enabled = true;
  /** Prefix of newly encrypted text; follows `BYTES_MARKER` in bytes and the quote in JSON. */
  readonly prefix: string;
  readonly bytesPrefix: Uint8Array;
  readonly #encryptor: Encryptor;
  readonly #blindIndexes = new LRUCache<string, string>({ max: MAX_CACHED_INDEXES });
  #blindIndexKey: Uint8Array | undefined;

  constructor(encryptor: Encryptor) {
    this.#encryptor = encryptor;
    this.prefix = `sealed:${encryptor.key_id}:`;
    this.bytesPrefix = Buffer.concat([Buffer.of(BYTES_MARKER), Buffer.from(this.prefix)]);
  }

  useBlindIndexKey(key: Uint8Array): void {
    this.#blindIndexKey = key;
  }

  encryptJson(column: string, text: string): string {
    return `"${this.encryptText(column, text)}"`;
  }

  decryptJson(column: string, text: string): string {
    return text.startsWith('"sealed:') ? this.#decrypt(column, text.slice(1, -1), text) : text;
  }

  encryptText(column: string, text: string): string {
    const encrypted = Buffer.from(this.#encryptor.encrypt(Buffer.from(text), column));
    return this.prefix + encrypted.toString('base64');
  }

  decryptText(column: string, text: string): string {
    return text.startsWith('sealed:') ? this.#decrypt(column, text, text) : text;
  }

  encryptBytes(column: string, value: Uint8Array): Uint8Array {
    return Buffer.concat([this.bytesPrefix, this.#encryptor.encrypt(value, column)]);
  }

  decryptBytes(column: string, value: Uint8Array): Uint8Array {
    if (value[0] !== BYTES_MARKER) return value;
    const head = Buffer.from(value.subarray(1, 1 + PREFIX_LENGTH)).toString('latin1');
    return ENCRYPTED_PREFIX.test(head)
      ? this.#encryptor.decrypt(keyIdOf(head), value.subarray(1 + PREFIX_LENGTH), column)
      : value;
  }

  blindIndex(purpose: string, text: string): string {
    const content = `${purpose}\0${text}`;
    if (content.length > MAX_CACHED_LENGTH) return this.#computeBlindIndex(content);
    const cached = this.#blindIndexes.get(content);
    if (cached) return cached;
    const blindIndex = this.#computeBlindIndex(content);
    this.#blindIndexes.set(content, blindIndex);
    return blindIndex;
  }

  #computeBlindIndex(content: string): string {
    if (!this.#blindIndexKey) throw new Error('The database is not unlocked.');
    return createHmac('sha256', this.#blindIndexKey)
      .update(content)
      .digest('hex')
      .slice(0, BLIND_INDEX_DIGITS);
  }

  #decrypt(column: string, text: string, fallback: string): string {
    if (!ENCRYPTED_PREFIX.test(text)) return fallback;
    const plain = this.#encryptor.decrypt(
      keyIdOf(text),
      Buffer.from(text.slice(PREFIX_LENGTH), 'base64'),
      column,
    );
    return Buffer.from(plain).toString('utf8');
  }
}

function keyIdOf(head: string): string {
  return head.slice('sealed:'.length, PREFIX_LENGTH - 1);
}

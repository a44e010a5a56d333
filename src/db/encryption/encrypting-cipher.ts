import { createHmac } from 'node:crypto';
import type { Cipher, Sealer } from './cipher.ts';

/** `sealed:`, the mark and `:`, then base64. */
const SEALED = /^sealed:[a-z0-9]{8}:/;
const HEAD = 'sealed:'.length + 8 + 1;
/** Before the same in bytes: neither JSON nor any other text in UTF-8 has it. */
const BYTE = 0xc0;
const TOKEN_DIGITS = 24;
/** Most are made again and again: of words, of names, of what each checkpoint says. */
const KNOWN_TOKENS = 10_000;
const LONGEST_KNOWN = 100;

/** Seals with `sealer`. Before it can make tokens it needs the database's own key for them (`unlock.ts`). */
export class SealingCipher implements Cipher {
  readonly on = true;
  /** What sealed text begins with now; in bytes it comes after one more byte, in JSON after the quote. */
  readonly prefix: string;
  readonly bytesPrefix: Uint8Array;
  readonly #sealer: Sealer;
  readonly #tokens = new Map<string, string>();
  #tokenKey: Uint8Array | undefined;

  constructor(sealer: Sealer) {
    this.#sealer = sealer;
    this.prefix = `sealed:${sealer.mark}:`;
    this.bytesPrefix = Buffer.concat([Buffer.of(BYTE), Buffer.from(this.prefix)]);
  }

  useTokenKey(key: Uint8Array): void {
    this.#tokenKey = key;
  }

  sealJson(column: string, text: string): string {
    return `"${this.sealText(column, text)}"`;
  }

  openJson(column: string, text: string): string {
    return text.startsWith('"sealed:') ? this.#opened(column, text.slice(1, -1), text) : text;
  }

  sealText(column: string, text: string): string {
    const sealed = Buffer.from(this.#sealer.seal(Buffer.from(text), column));
    return this.prefix + sealed.toString('base64');
  }

  openText(column: string, text: string): string {
    return text.startsWith('sealed:') ? this.#opened(column, text, text) : text;
  }

  sealBytes(column: string, value: Uint8Array): Uint8Array {
    return Buffer.concat([this.bytesPrefix, this.#sealer.seal(value, column)]);
  }

  openBytes(column: string, value: Uint8Array): Uint8Array {
    if (value[0] !== BYTE) return value;
    const head = Buffer.from(value.subarray(1, 1 + HEAD)).toString('latin1');
    return SEALED.test(head) ? this.#sealer.open(markOf(head), value.subarray(1 + HEAD), column) : value;
  }

  token(purpose: string, text: string): string {
    const content = `${purpose}\0${text}`;
    if (content.length > LONGEST_KNOWN) return this.#tokenOf(content);
    const known = this.#tokens.get(content);
    if (known) return known;
    if (this.#tokens.size >= KNOWN_TOKENS) this.#tokens.delete(this.#tokens.keys().next().value as string);
    const token = this.#tokenOf(content);
    this.#tokens.set(content, token);
    return token;
  }

  #tokenOf(content: string): string {
    if (!this.#tokenKey) throw new Error('The database is not unlocked.');
    return createHmac('sha256', this.#tokenKey).update(content).digest('hex').slice(0, TOKEN_DIGITS);
  }

  #opened(column: string, text: string, otherwise: string): string {
    if (!SEALED.test(text)) return otherwise;
    const plain = this.#sealer.open(markOf(text), Buffer.from(text.slice(HEAD), 'base64'), column);
    return Buffer.from(plain).toString('utf8');
  }
}

function markOf(head: string): string {
  return head.slice('sealed:'.length, HEAD - 1);
}

import type { Parsed } from '../json.ts';

/**
 * Encrypts on write and decrypts on read (`docs/encryption.md`). Every database handle has one: `db.cipher`,
 * `tx.cipher`. `column`, such as `runs.kwargs`, binds a value to its column: the value decrypts only there. Plain
 * values decrypt to themselves, so a database that began without encryption stays readable.
 * Decrypting throws `DecryptionError`.
 */
export interface Cipher {
  /** False when nothing is encrypted. */
  readonly enabled: boolean;
  /** Turns JSON text into the JSON text of one string, which any JSON column accepts. */
  encryptJson(column: string, text: string): string;
  decryptJson(column: string, text: string): string;
  encryptText(column: string, text: string): string;
  decryptText(column: string, text: string): string;
  encryptBytes(column: string, value: Uint8Array): Uint8Array;
  decryptBytes(column: string, value: Uint8Array): Uint8Array;
  /**
   * Blind index: a keyed hash for comparison by the database, 24 hexadecimal digits. One-way; the same for a text and
   * purpose in every process and under every key of this database. Without encryption, the text itself.
   */
  blindIndex(purpose: string, text: string): string;
}

/** A value that cannot be decrypted: its key is missing, or it was changed or moved. The message names the column. */
export class DecryptionError extends Error {
  constructor(what: string, options?: { cause?: unknown }) {
    super(what, options);
    this.name = 'DecryptionError';
  }
}

const identity = <Value>(_column: string, value: Value): Value => value;

/** Without encryption: every value passes through unchanged. */
export const plainCipher: Cipher = {
  enabled: false,
  encryptJson: identity,
  decryptJson: identity,
  encryptText: identity,
  decryptText: identity,
  encryptBytes: identity,
  decryptBytes: identity,
  blindIndex: identity,
};

/** Encrypts raw bytes; the cipher adds the envelope that a column requires. */
export interface Encryptor {
  /** Eight characters of `a-z0-9` that identify the algorithm and key of new values. */
  readonly key_id: string;
  encrypt(plain: Uint8Array, column: string): Uint8Array;
  /** `key_id`: from the envelope of the value. Throws `DecryptionError`. */
  decrypt(key_id: string, encrypted: Uint8Array, column: string): Uint8Array;
}

/** Cipher column of each property of a row, such as `{payload: 'crons.payload'}`. */
type ColumnNames<Names extends PropertyKey> = { readonly [Name in Names]: string };

/** Decrypts and parses JSON columns of a row, in place. Null stays null. Throws `DecryptionError`. */
export function decryptJsonColumns<Row extends object, Names extends keyof Row & string>(
  cipher: Cipher,
  row: Row,
  whose: ColumnNames<Names>,
): Parsed<Row, Names> {
  for (const name in whose) {
    const text = row[name];
    if (typeof text === 'string') row[name] = JSON.parse(cipher.decryptJson(whose[name], text));
  }
  return row as Parsed<Row, Names>;
}

/** Decrypts text columns of a row, in place. Null stays null. Throws `DecryptionError`. */
export function decryptTextColumns<Row extends object, Names extends keyof Row & string>(
  cipher: Cipher,
  row: Row,
  whose: ColumnNames<Names>,
): Row {
  for (const name in whose) {
    const text = row[name];
    if (typeof text === 'string') row[name] = cipher.decryptText(whose[name], text) as typeof text;
  }
  return row;
}

/**
 * Seals what is written and opens what is read (`docs/encryption.md`). Every database handle has one: `db.cipher`,
 * `tx.cipher`. `column` says whose value it is, as `runs.kwargs`: a value opens only for the column it was sealed for.
 * What is not sealed opens as it is, so that a database that began without encryption stays readable.
 * Opening throws `DecryptionError`.
 */
export interface Cipher {
  /** Whether anything is sealed at all. */
  readonly enabled: boolean;
  /** JSON text to the JSON text of one string, which any JSON column takes. */
  encryptJson(column: string, text: string): string;
  decryptJson(column: string, text: string): string;
  encryptText(column: string, text: string): string;
  decryptText(column: string, text: string): string;
  encryptBytes(column: string, value: Uint8Array): Uint8Array;
  decryptBytes(column: string, value: Uint8Array): Uint8Array;
  /**
   * What stands for a text where the database compares: 24 hexadecimal digits, the same for the same text and purpose in
   * every process and under every key of this database. It cannot be turned back. Without encryption the text itself.
   */
  blindIndex(purpose: string, text: string): string;
}

/** A sealed value that cannot be opened: no key for it, or it was changed or moved. The message names the column. */
export class DecryptionError extends Error {
  constructor(what: string, options?: { cause?: unknown }) {
    super(what, options);
    this.name = 'DecryptionError';
  }
}

const identity = <Value>(_column: string, value: Value): Value => value;

/** Without encryption: everything is what it is. */
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

/** How bytes are sealed; what is put around them for a column is the cipher's. */
export interface Encryptor {
  /** Eight characters of `a-z0-9` that name the way and the key of what is sealed now. */
  readonly key_id: string;
  encrypt(plain: Uint8Array, column: string): Uint8Array;
  /** `mark` is that of the sealed value. Throws `DecryptionError`. */
  decrypt(key_id: string, encrypted: Uint8Array, column: string): Uint8Array;
}

/** Of columns of a row: whose values they are, as `{payload: 'crons.payload'}`. */
type ColumnNames<Row> = { readonly [Column in keyof Row]?: string };

/** Opens and parses JSON columns of a row, in place. Null stays. Throws `DecryptionError`. */
export function decryptJsonColumns<Row extends object>(
  cipher: Cipher,
  row: Row,
  whose: ColumnNames<Row>,
): Row {
  for (const name in whose) {
    const text = row[name];
    if (typeof text === 'string') row[name] = JSON.parse(cipher.decryptJson(whose[name] as string, text));
  }
  return row;
}

/** Opens text columns of a row, in place. Null stays. Throws `DecryptionError`. */
export function decryptTextColumns<Row extends object>(
  cipher: Cipher,
  row: Row,
  whose: ColumnNames<Row>,
): Row {
  for (const name in whose) {
    const text = row[name];
    if (typeof text === 'string') row[name] = cipher.decryptText(whose[name] as string, text) as typeof text;
  }
  return row;
}

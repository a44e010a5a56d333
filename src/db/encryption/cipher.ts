/**
 * Seals what is written and opens what is read (`docs/encryption.md`). Every database handle has one: `db.cipher`,
 * `tx.cipher`. `column` says whose value it is, as `runs.kwargs`: a value opens only for the column it was sealed for.
 * What is not sealed opens as it is, so that a database that began without encryption stays readable.
 * Opening throws `Unreadable`.
 */
export interface Cipher {
  /** Whether anything is sealed at all. */
  readonly on: boolean;
  /** JSON text to the JSON text of one string, which any JSON column takes. */
  sealJson(column: string, text: string): string;
  openJson(column: string, text: string): string;
  sealText(column: string, text: string): string;
  openText(column: string, text: string): string;
  sealBytes(column: string, value: Uint8Array): Uint8Array;
  openBytes(column: string, value: Uint8Array): Uint8Array;
  /**
   * What stands for a text where the database compares: 24 hexadecimal digits, the same for the same text and purpose in
   * every process and under every key of this database. It cannot be turned back. Without encryption the text itself.
   */
  token(purpose: string, text: string): string;
}

/** A sealed value that cannot be opened: no key for it, or it was changed or moved. The message names the column. */
export class Unreadable extends Error {
  constructor(what: string, options?: { cause?: unknown }) {
    super(what, options);
    this.name = 'Unreadable';
  }
}

const itself = <Value>(_column: string, value: Value): Value => value;

/** Without encryption: everything is what it is. */
export const plainCipher: Cipher = {
  on: false,
  sealJson: itself,
  openJson: itself,
  sealText: itself,
  openText: itself,
  sealBytes: itself,
  openBytes: itself,
  token: itself,
};

/** How bytes are sealed; what is put around them for a column is the cipher's. */
export interface Sealer {
  /** Eight characters of `a-z0-9` that name the way and the key of what is sealed now. */
  readonly mark: string;
  seal(plain: Uint8Array, column: string): Uint8Array;
  /** `mark` is that of the sealed value. Throws `Unreadable`. */
  open(mark: string, sealed: Uint8Array, column: string): Uint8Array;
}

/** Of columns of a row: whose values they are, as `{payload: 'crons.payload'}`. */
type Whose<Row> = { readonly [Column in keyof Row]?: string };

/** Opens and parses JSON columns of a row, in place. Null stays. Throws `Unreadable`. */
export function openJson<Row extends object>(cipher: Cipher, row: Row, whose: Whose<Row>): Row {
  for (const name in whose) {
    const text = row[name];
    if (typeof text === 'string') row[name] = JSON.parse(cipher.openJson(whose[name] as string, text));
  }
  return row;
}

/** Opens text columns of a row, in place. Null stays. Throws `Unreadable`. */
export function openText<Row extends object>(cipher: Cipher, row: Row, whose: Whose<Row>): Row {
  for (const name in whose) {
    const text = row[name];
    if (typeof text === 'string') row[name] = cipher.openText(whose[name] as string, text) as typeof text;
  }
  return row;
}

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

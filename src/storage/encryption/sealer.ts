/** How bytes are sealed; what is put around them for a column is the cipher's. */
export interface Sealer {
  /** Eight characters of `a-z0-9` that name the way and the key of what is sealed now. */
  readonly mark: string;
  seal(plain: Uint8Array, column: string): Uint8Array;
  /** `mark` is that of the sealed value. Throws `Unreadable`. */
  open(mark: string, sealed: Uint8Array, column: string): Uint8Array;
}

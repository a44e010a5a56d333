/** Cuts what a client of PostgreSQL sends into messages (protocol 3.0): the first has no type, the others have one byte. */
export class ClientMessages {
  #rest: Buffer = Buffer.alloc(0);
  #isStarted = false;

  /**
   * The messages that are complete with these bytes, each as it came, with the SQL text in it, and whether an answer is
   * awaited after it.
   */
  read(chunk: Buffer): { bytes: Buffer; sql: string | undefined; isEnd: boolean }[] {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    const messages = [];
    for (;;) {
      const type_bytes = this.#isStarted ? 1 : 0;
      if (this.#rest.length < type_bytes + 4) return messages;
      const end = type_bytes + this.#rest.readInt32BE(type_bytes);
      if (this.#rest.length < end) return messages;
      const bytes = this.#rest.subarray(0, end);
      this.#rest = this.#rest.subarray(end);
      const isEnd = this.#isStarted && ENDS.has(bytes[0] as number);
      messages.push({ bytes, sql: this.#isStarted ? sqlOf(bytes) : undefined, isEnd });
      this.#isStarted = true;
    }
  }
}

/** `Sync` and a simple query: the server answers `ReadyForQuery` to each. */
const ENDS = new Set(['S', 'Q'].map((type) => type.charCodeAt(0)));

/** Of a simple query (`Q`) or of one with parameters (`P`: name, text). */
function sqlOf(bytes: Buffer): string | undefined {
  const type = String.fromCharCode(bytes[0] as number);
  if (type === 'Q') return bytes.toString('utf8', 5, bytes.length - 1);
  if (type !== 'P') return undefined;
  const start = bytes.indexOf(0, 5) + 1;
  return bytes.toString('utf8', start, bytes.indexOf(0, start));
}

/** Whether an answer is complete: the server is ready for the next query (`Z`, 5 bytes, the state of the transaction). */
export function isWholeAnswer(answer: Buffer): boolean {
  const last = answer.subarray(-6);
  return last.length === 6 && last[0] === 'Z'.charCodeAt(0) && last.readInt32BE(1) === 5;
}

/** Whether it says that nothing was changed: an error, or a rollback in the place of a commit. */
export function isRefused(answer: Buffer): boolean {
  return answer[0] === 'E'.charCodeAt(0) || answer.includes('ROLLBACK\0');
}

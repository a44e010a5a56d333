import type pg from 'pg';
import type { SqlValue } from '../sql.ts';
import { parserOf } from './postgres-client.ts';

export interface BatchStatement {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

export interface StatementResult {
  readonly rows: unknown[];
  readonly changes: number;
  /** Command tag: of a `commit` that only rolled back, it is `ROLLBACK`. */
  readonly command: string;
}

/**
 * Executes statements in order, in one round trip: the extended query protocol with a single `Sync`. When one fails, the
 * server skips the rest, a `commit` among them, and this rejects with its error.
 */
export function executeBatch(
  client: pg.PoolClient,
  statements: readonly BatchStatement[],
): Promise<StatementResult[]> {
  return new Promise((resolve, reject) => {
    client.query(new Batch(statements, (error, results) => (error ? reject(error) : resolve(results ?? []))));
  });
}

type Callback = (error: unknown, results?: StatementResult[]) => void;

/** Messages of the server as the client library passes them on. */
interface RowDescription {
  readonly fields: readonly { readonly name: string; readonly dataTypeID: number }[];
}
interface DataRow {
  readonly fields: readonly (string | null)[];
}

interface Column {
  readonly name: string;
  readonly parse: (text: string) => unknown;
}

/** The client library replaces `callback` to limit the time of the answer, and calls the handlers. */
class Batch implements pg.Submittable {
  callback: Callback;
  readonly #statements: readonly BatchStatement[];
  readonly #results: StatementResult[] = [];
  #columns: readonly Column[] = [];
  #rows: unknown[] = [];
  #failure: unknown;

  constructor(statements: readonly BatchStatement[], callback: Callback) {
    this.#statements = statements;
    this.callback = callback;
  }

  submit(connection: pg.Connection): void {
    connection.stream.cork();
    try {
      for (const { text, values } of this.#statements) {
        connection.parse({ name: '', text, types: [] }, true);
        connection.bind({ values: values.map(wireValue) }, true);
        connection.describe({ type: 'P' }, true);
        connection.execute({}, true);
      }
      connection.sync();
    } finally {
      connection.stream.uncork();
    }
  }

  handleRowDescription({ fields }: RowDescription): void {
    this.#columns = fields.map(({ name, dataTypeID }) => ({ name, parse: parserOf(dataTypeID) }));
  }

  /** Called by the socket: a value that cannot be parsed must not end the process. */
  handleDataRow({ fields }: DataRow): void {
    try {
      this.#rows.push(this.#rowOf(fields));
    } catch (error) {
      this.#failure ??= error;
    }
  }

  #rowOf(fields: DataRow['fields']): Record<string, unknown> {
    const row: Record<string, unknown> = {};
    for (const [index, { name, parse }] of this.#columns.entries()) {
      const text = fields[index];
      row[name] = text === null || text === undefined ? null : parse(text);
    }
    return row;
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    // `INSERT 0 1`, `UPDATE 3`, `COMMIT`.
    const words = text.split(' ');
    this.#results.push({ rows: this.#rows, changes: Number(words.at(-1)) || 0, command: words[0] ?? '' });
    this.#rows = [];
    this.#columns = [];
  }

  /** PostgreSQL's answer to a statement without text. */
  handleEmptyQuery(): void {
    this.handleCommandComplete({ text: '' });
  }

  handleError(error: unknown): void {
    this.callback(error);
  }

  handleReadyForQuery(): void {
    this.callback(this.#failure, this.#results);
  }
}

/** Bytes go as they are, everything else as text. */
function wireValue(value: SqlValue): string | Buffer | null {
  if (value === null) return null;
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  return String(value);
}

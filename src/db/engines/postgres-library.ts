import { createRequire } from 'node:module';
import type pg from 'pg';

let library: typeof pg | undefined;

/** The client library, loaded when a connection is first needed: a server on SQLite starts without its 40 modules. */
export function postgresLibrary(): typeof pg {
  library ??= createRequire(import.meta.url)('pg') as typeof pg;
  return library;
}

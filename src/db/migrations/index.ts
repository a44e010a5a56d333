import type { DialectName } from '../sql.ts';
import { base } from './base/base.ts';

export interface Migration {
  /** The extension whose tables it changes, and only those; without it, it is of the core. */
  readonly extension?: string;
  /** Ascending order of application, for each extension. Never changed once released. */
  readonly version: number;
  readonly name: string;
  /**
   * Statements that each end with `;` at the end of a line, with `{…}` for the engine's types (`migrate.ts`). One text
   * per engine where they share nothing.
   */
  readonly text: string | Readonly<Record<DialectName, string>>;
  /**
   * It only adds what programs without it can ignore: tables, indexes, columns that have a default or may be null. Such
   * programs keep serving during and after it. Without this mark they refuse to start.
   */
  readonly expands?: true;
}

/** Lower numbers were those of schemas before the first release: a database that has one of them is refused. */
export const migrations: readonly Migration[] = [{ version: 45, name: 'base', text: base }];

/** `45`; of an extension, `a2a 1`. */
export function versionOf({ extension, version }: Migration): string {
  return extension === undefined ? `${version}` : `${extension} ${version}`;
}

import { VERSION } from '../config/version.ts';
import type { LogFields } from '../core/logger.ts';
import { columns } from './command.ts';

/** What a person at a terminal wants to know of a server that is ready, by the fields of its log line. */
const ROWS = [
  ['url', 'API'],
  ['docs', 'Docs'],
  ['graphs', 'Graphs'],
  ['failed_graphs', 'Failed'],
  ['storage', 'Data'],
  ['auth', 'Keys'],
] as const;

/** The first lines of a server on a terminal. `facts`: the fields of the line `ready`. */
export function banner(facts: LogFields, color: boolean): string {
  const bold = (text: string) => (color ? `\u001b[1m${text}\u001b[0m` : text);
  const rows = ROWS.flatMap(([field, label]) =>
    facts[field] === undefined ? [] : [[label, String(facts[field])]],
  );
  return `\n  ${bold(`Agent Server ${VERSION}`)}\n\n${columns(rows).join('\n')}\n\n`;
}

import type { DialectName } from '../sql.ts';
import { migrations } from './index.ts';

const CREATED = /^\s*create (?:unique )?(index|trigger) (?:concurrently )?(?:if not exists )?(\w+)/i;
const DROPPED = /^\s*drop (?:index|trigger) (?:concurrently )?(?:if exists )?(\w+)/i;

/** The statements that create each index and trigger of the newest schema, by name. */
export function schemaObjects(dialect: DialectName): Map<string, string> {
  const statements = new Map<string, string>();
  for (const { text } of migrations) {
    const script = typeof text === 'string' ? text : text[dialect];
    for (const statement of script.split(/;\s*$/m)) {
      const sql = withoutComments(statement);
      const name = CREATED.exec(sql)?.[2];
      if (name !== undefined) statements.set(name, sql);
      statements.delete(DROPPED.exec(sql)?.[1] ?? '');
    }
  }
  return statements;
}

/** Lines of comments stand before some statements. */
function withoutComments(statement: string): string {
  const lines = statement.split('\n').filter((line) => !line.trimStart().startsWith('--'));
  return lines.join('\n').trim();
}

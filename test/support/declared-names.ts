import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type TypeScript from 'typescript-compiler';

const SRC = resolve(import.meta.dirname, '../../src');

export interface DeclaredName {
  /** From `src`. */
  readonly file: string;
  /** An identifier, or `file` itself. */
  readonly name: string;
}

/** The files of `src`, and what they declare, each name once for a file: variables, functions, types, members and keys of object literals. */
export async function declaredNames(): Promise<DeclaredName[]> {
  const { default: ts }: { default: typeof TypeScript } = await import('typescript-compiler');
  const names = new Map<string, DeclaredName>();
  for (const file of readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter(isSource)) {
    const add = (name: string) => names.set(`${file} ${name}`, { file, name });
    add(file);
    const visit = (node: TypeScript.Node): void => {
      const { name } = node as { name?: TypeScript.Node };
      if (name && declares(ts, node) && isName(ts, name)) add(name.text);
      ts.forEachChild(node, visit);
    };
    const text = readFileSync(join(SRC, file), 'utf8');
    visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest));
  }
  return [...names.values()];
}

/** The words of a camelCase, snake_case, CONSTANT_CASE or kebab-case name, lower-case and separated by spaces. */
export function wordsOf(name: string): string {
  return name
    .replace(/\.ts$/, '')
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .replace(/[^A-Za-z0-9]+/g, ' ')
    .trim()
    .toLowerCase();
}

function isSource(file: string): boolean {
  return file.endsWith('.ts');
}

/** Whether the node's name is its own: imports and uses repeat a name from elsewhere. */
function declares(ts: typeof TypeScript, node: TypeScript.Node): boolean {
  return !(
    ts.isPropertyAccessExpression(node) ||
    ts.isShorthandPropertyAssignment(node) ||
    ts.isImportSpecifier(node) ||
    ts.isExportSpecifier(node) ||
    ts.isMetaProperty(node)
  );
}

function isName(
  ts: typeof TypeScript,
  name: TypeScript.Node,
): name is TypeScript.Identifier | TypeScript.PrivateIdentifier {
  return ts.isIdentifier(name) || ts.isPrivateIdentifier(name);
}

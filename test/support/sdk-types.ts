import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type TypeScript from 'typescript-compiler';

const DIST = resolve(import.meta.dirname, '../../node_modules/@langchain/langgraph-sdk/dist');
const FILES = ['schema.d.ts', 'types.d.ts', 'types.stream.d.ts'];

export interface SdkTypes {
  /** Names of the fields of each object type, those of the types that it extends included. */
  readonly fields: ReadonlyMap<string, readonly string[]>;
  /** The literals of each union of texts. */
  readonly literals: ReadonlyMap<string, readonly string[]>;
}

/** The types that the JavaScript SDK declares for requests, responses and events. */
export async function sdkTypes(): Promise<SdkTypes> {
  const { default: ts }: { default: typeof TypeScript } = await import('typescript-compiler');
  const fields = new Map<string, string[]>();
  const literals = new Map<string, string[]>();

  function membersOf(members: readonly TypeScript.TypeElement[]): string[] {
    return members.flatMap(({ name }) => (name && ts.isIdentifier(name) ? [name.text] : []));
  }
  function visit(node: TypeScript.Node): void {
    if (ts.isInterfaceDeclaration(node)) {
      const bases = (node.heritageClauses ?? []).flatMap(({ types }) =>
        types.map(({ expression }) => expression),
      );
      const inherited = bases.flatMap((base) => (ts.isIdentifier(base) ? (fields.get(base.text) ?? []) : []));
      fields.set(node.name.text, [...inherited, ...membersOf([...node.members])]);
    } else if (ts.isTypeAliasDeclaration(node)) {
      const { name, type } = node;
      if (ts.isTypeLiteralNode(type)) fields.set(name.text, membersOf([...type.members]));
      if (ts.isUnionTypeNode(type)) literals.set(name.text, type.types.flatMap(literalOf));
    }
  }
  function literalOf(type: TypeScript.TypeNode): string[] {
    return ts.isLiteralTypeNode(type) && ts.isStringLiteral(type.literal) ? [type.literal.text] : [];
  }
  for (const file of FILES) {
    const text = readFileSync(join(DIST, file), 'utf8');
    ts.createSourceFile(file, text, ts.ScriptTarget.Latest).statements.forEach(visit);
  }
  return { fields, literals };
}

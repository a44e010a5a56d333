import type { Compiler, TypeScript } from './compiler.ts';

export interface AddedNode {
  readonly name: string;
  /** What is executed: a function, or another graph. */
  readonly node: TypeScript.Expression;
}

/**
 * The arguments of the `addNode` calls that make a graph. Types do not name nodes, so the source is followed from
 * `start` on: through variables, calls and functions of the project.
 */
export function addedNodes(
  ts: Compiler,
  checker: TypeScript.TypeChecker,
  start: TypeScript.Node,
): AddedNode[] {
  const nodes: AddedNode[] = [];
  const seen = new Set<TypeScript.Node>();

  function follow(node: TypeScript.Node): void {
    if (seen.has(node)) return;
    seen.add(node);
    if (ts.isIdentifier(node)) for (const each of declarationsOf(node)) follow(each);
    else if (ts.isVariableDeclaration(node)) {
      if (node.initializer) follow(node.initializer);
      for (const call of callsOn(node)) add(call);
    } else if (ts.isFunctionLike(node)) for (const each of resultsOf(ts, node)) follow(each);
    else if (ts.isCallExpression(node)) {
      add(node);
      follow(node.expression);
    } else if (isAround(ts, node)) follow(node.expression);
  }

  function add(call: TypeScript.CallExpression): void {
    const [name, node] = call.arguments;
    if (isAddNode(ts, call) && name && node && ts.isStringLiteralLike(name))
      nodes.push({ name: name.text, node });
  }

  function declarationsOf(identifier: TypeScript.Identifier): readonly TypeScript.Declaration[] {
    const symbol = checker.getSymbolAtLocation(identifier);
    const isImported = symbol && symbol.flags & ts.SymbolFlags.Alias;
    return (isImported ? checker.getAliasedSymbol(symbol) : symbol)?.declarations ?? [];
  }

  /** `builder.addNode(…)` in statements of their own, anywhere in the file of the variable. */
  function callsOn(variable: TypeScript.VariableDeclaration): TypeScript.CallExpression[] {
    return descendants(ts, variable.getSourceFile())
      .filter((node) => ts.isCallExpression(node) && isAddNode(ts, node))
      .filter((call) => {
        const base = baseOf(ts, call as TypeScript.CallExpression);
        return ts.isIdentifier(base) && declarationsOf(base).includes(variable);
      }) as TypeScript.CallExpression[];
  }

  follow(start);
  return nodes;
}

function isAddNode(ts: Compiler, { expression }: TypeScript.CallExpression): boolean {
  return ts.isPropertyAccessExpression(expression) && expression.name.text === 'addNode';
}

/** What only surrounds the expression that matters: `await x`, `(x)`, `x as Y`, `x!`, `x.y`, `export default x`. */
function isAround(ts: Compiler, node: TypeScript.Node): node is TypeScript.AwaitExpression {
  return (
    ts.isAwaitExpression(node) ||
    ts.isParenthesizedExpression(node) ||
    ts.isAsExpression(node) ||
    ts.isSatisfiesExpression(node) ||
    ts.isNonNullExpression(node) ||
    ts.isPropertyAccessExpression(node) ||
    ts.isExportAssignment(node)
  );
}

/** `builder` of `builder.addNode(…).addEdge(…)`. */
function baseOf(ts: Compiler, node: TypeScript.Expression): TypeScript.Expression {
  if (ts.isCallExpression(node) || ts.isPropertyAccessExpression(node)) return baseOf(ts, node.expression);
  return node;
}

function resultsOf(ts: Compiler, declaration: TypeScript.SignatureDeclaration): TypeScript.Node[] {
  const { body } = declaration as TypeScript.FunctionLikeDeclaration;
  if (!body) return [];
  if (!ts.isBlock(body)) return [body];
  return descendants(ts, body).flatMap((node) =>
    ts.isReturnStatement(node) && node.expression ? [node.expression] : [],
  );
}

function descendants(ts: Compiler, node: TypeScript.Node): TypeScript.Node[] {
  const found: TypeScript.Node[] = [];
  const visit = (each: TypeScript.Node) => {
    found.push(each);
    ts.forEachChild(each, visit);
  };
  visit(node);
  return found;
}

import type { Compiler, TypeScript } from './compiler.ts';

/** Questions to the type checker about graphs, by the shape of LangGraph's types: its classes are the project's. */
export function graphTypes(ts: Compiler, checker: TypeScript.TypeChecker) {
  function property(type: TypeScript.Type, name: string): TypeScript.Type | undefined {
    const symbol = checker.getPropertyOfType(type, name);
    return symbol && checker.getTypeOfSymbol(symbol);
  }

  /** What a promise resolves to and a factory returns; a graph inside an agent; what a builder compiles to. */
  function compiled(given: TypeScript.Type): TypeScript.Type | undefined {
    const type = checker.getAwaitedType(given) ?? given;
    const held = property(type, 'graph');
    if (held && property(held, '~OutputType')) return held;
    if (property(type, '~OutputType')) return type;
    const makes = returned(property(type, 'compile')) ?? returned(type);
    return makes && makes !== given ? compiled(makes) : undefined;
  }

  function returned(type: TypeScript.Type | undefined): TypeScript.Type | undefined {
    const signature = type && checker.getSignaturesOfType(type, ts.SignatureKind.Call)[0];
    return signature && checker.getReturnTypeOfSignature(signature);
  }

  /** The value of each channel of the context's Annotation. Undefined when the graph has none. */
  function context(graph: TypeScript.Type): Map<string, TypeScript.Type> | undefined {
    const builder = property(graph, 'builder');
    const declared = builder && property(builder, '_configSchema');
    const definition = declared && checker.getNonNullableType(declared);
    if (!definition || checker.getIndexInfosOfType(definition).length > 0) return undefined;
    const channels = definition.getProperties().flatMap((symbol) => {
      const type = checker.getTypeOfSymbol(symbol);
      const value = property(returned(type) ?? type, 'ValueType');
      return value ? [[symbol.name, value] as const] : [];
    });
    return channels.length > 0 ? new Map(channels) : undefined;
  }

  return {
    compiled,
    context,
    input: (graph: TypeScript.Type) => property(graph, '~InputType'),
    output: (graph: TypeScript.Type) => property(graph, '~OutputType'),
    state: (graph: TypeScript.Type) => property(graph, '~RunOutput'),
  };
}

export type GraphTypes = ReturnType<typeof graphTypes>;

export interface AddedNode {
  readonly name: string;
  /** What is executed: a function, or another graph. */
  readonly node: TypeScript.Expression;
}

/**
 * The arguments of the `addNode` calls that make a graph. Types do not name nodes, so the source is followed from
 * `start` on: through variables, calls and functions of the project.
 */
function addedNodes(ts: Compiler, checker: TypeScript.TypeChecker, start: TypeScript.Node): AddedNode[] {
  const nodes: AddedNode[] = [];
  const seen = new Set<TypeScript.Node>();

  function follow(node: TypeScript.Node): void {
    if (seen.has(node)) return;
    seen.add(node);
    if (ts.isIdentifier(node)) for (const each of declarationsOf(node)) follow(each);
    else if (ts.isVariableDeclaration(node)) {
      if (node.initializer) follow(node.initializer);
      for (const call of addNodeCallsOn(node)) add(call);
    } else if (ts.isFunctionLike(node)) for (const each of returnedBy(ts, node)) follow(each);
    else if (ts.isCallExpression(node)) {
      add(node);
      follow(node.expression);
    } else if (isWrapper(ts, node)) follow(node.expression);
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
  function addNodeCallsOn(variable: TypeScript.VariableDeclaration): TypeScript.CallExpression[] {
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
function isWrapper(ts: Compiler, node: TypeScript.Node): node is TypeScript.AwaitExpression {
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

function returnedBy(ts: Compiler, declaration: TypeScript.SignatureDeclaration): TypeScript.Node[] {
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

/** A graph that another has as a node: where it is, and its type. */
export interface FoundSubgraph {
  readonly namespace: string;
  readonly type: TypeScript.Type;
}

/** Deeper is a graph that contains itself. */
const MAX_DEPTH = 10;

/** The subgraphs of what a declaration declares: the graphs among its nodes, and theirs. */
export function findSubgraphs(
  ts: Compiler,
  checker: TypeScript.TypeChecker,
  graphs: GraphTypes,
  root: TypeScript.Declaration,
): FoundSubgraph[] {
  function subgraphsOf(start: TypeScript.Node, namespace: readonly string[]): FoundSubgraph[] {
    if (namespace.length > MAX_DEPTH) return [];
    return addedNodes(ts, checker, start).flatMap(({ name, node }) => {
      const type = graphs.compiled(checker.getTypeAtLocation(node));
      if (!type) return [];
      const place = [...namespace, name];
      return [{ namespace: place.join('|'), type }, ...subgraphsOf(node, place)];
    });
  }

  return subgraphsOf(root, []);
}

import type { Compiler, TypeScript } from '../project/compiler.ts';

/** Queries the type checker about graphs, by the shape of LangGraph's types: its classes are the project's copy. */
export function graphTypes(ts: Compiler, checker: TypeScript.TypeChecker) {
  function property(type: TypeScript.Type, name: string): TypeScript.Type | undefined {
    const symbol = checker.getPropertyOfType(type, name);
    return symbol && checker.getTypeOfSymbol(symbol);
  }

  /** Unwraps promises, factories, agents that hold a graph, and builders. */
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

  /** Value type of each channel of the context's Annotation. Returns `undefined` if the graph declares no context. */
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
  /** The function or graph that is executed. */
  readonly node: TypeScript.Expression;
}

/**
 * Arguments of the `addNode` calls that build a graph. Types do not name nodes, so that the source is followed from
 * `start`: through variables, calls and functions of the project.
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

  /** Separate `builder.addNode(…)` statements, anywhere in the variable's file. */
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

/** Wraps the relevant expression: `await x`, `(x)`, `x as Y`, `x!`, `x.y`, `export default x`. */
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

/** A graph that is a node of another one: its namespace and type. */
export interface FoundSubgraph {
  readonly namespace: string;
  readonly type: TypeScript.Type;
}

/** Only a graph that contains itself is deeper. */
const MAX_DEPTH = 10;

/** Subgraphs of a declaration: the graphs among its nodes, recursively. */
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

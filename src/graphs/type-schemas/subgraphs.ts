import { addedNodes } from './added-nodes.ts';
import type { Compiler, TypeScript } from './compiler.ts';
import type { GraphTypes } from './graph-type.ts';

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
  function within(start: TypeScript.Node, namespace: readonly string[]): FoundSubgraph[] {
    if (namespace.length > MAX_DEPTH) return [];
    return addedNodes(ts, checker, start).flatMap(({ name, node }) => {
      const type = graphs.compiled(checker.getTypeAtLocation(node));
      if (!type) return [];
      const place = [...namespace, name];
      return [{ namespace: place.join('|'), type }, ...within(node, place)];
    });
  }

  return within(root, []);
}

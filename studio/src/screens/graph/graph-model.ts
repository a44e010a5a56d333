/** A graph as returned by the server. Ids of nodes in subgraphs are names joined by `:`. */
export interface Drawing {
  readonly nodes: readonly DrawnNode[];
  readonly edges: readonly DrawnEdge[];
}

interface DrawnNode {
  readonly id: string | number;
  readonly type?: string;
  readonly data?: unknown;
}

interface DrawnEdge {
  readonly source: string;
  readonly target: string;
  readonly conditional?: boolean;
  /** Label of the edge, if the graph has one. */
  readonly data?: unknown;
}

/** `group`: a subgraph whose nodes are shown. */
type NodeKind = 'start' | 'end' | 'node' | 'group';

export interface GraphNode {
  readonly id: string;
  readonly name: string;
  readonly kind: NodeKind;
  /** The node is a subgraph that can be expanded. */
  readonly hasNodes: boolean;
  readonly children: readonly GraphNode[];
  /** Class of the node's runnable, such as `ToolNode`. */
  readonly type: string;
}

export interface GraphEdge {
  readonly id: string;
  readonly source: string;
  readonly target: string;
  readonly isConditional: boolean;
  readonly label: string;
}

export interface GraphModel {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

/** Ids of the subgraphs of an x-rayed drawing, outer ones before inner ones. */
export function subgraphIds({ nodes }: Drawing): string[] {
  const ids = nodes.flatMap(({ id }) => ancestors(String(id)));
  return [...new Set(ids)].sort();
}

/** `a:b:c` is in `a` and `a:b`. */
function ancestors(id: string): string[] {
  const names = id.split(':');
  return names.slice(1).map((_, i) => names.slice(0, i + 1).join(':'));
}

/**
 * The drawn graph. Edges are always those of the compiled graph; a collapsed subgraph stands for all its nodes.
 */
export function graphModel(plain: Drawing, xrayed: Drawing, expanded: ReadonlySet<string>): GraphModel {
  const groups = new Set(subgraphIds(xrayed));
  const isExpanded = [...groups].some((id) => expanded.has(id) && !id.includes(':'));
  const drawing = isExpanded ? xrayed : plain;
  const visibleId = (id: string) => ancestors(id).find((each) => !expanded.has(each)) ?? id;
  const types = new Map([...xrayed.nodes, ...plain.nodes].map((node) => [String(node.id), typeOf(node)]));
  const ids = [...new Set(drawing.nodes.map(({ id }) => visibleId(String(id))))];
  return {
    nodes: tree(ids, groups, types),
    edges: edgesBetween(drawing.edges, visibleId),
  };
}

function edgesBetween(drawn: readonly DrawnEdge[], visibleId: (id: string) => string): GraphEdge[] {
  const edges = new Map<string, GraphEdge>();
  for (const { source, target, conditional = false, data } of drawn) {
    const [from, to] = [visibleId(source), visibleId(target)];
    // Inside a collapsed subgraph.
    if (from === to && source !== target) continue;
    const label = typeof data === 'string' ? data : '';
    const id = JSON.stringify([from, to, conditional, label]);
    edges.set(id, { id, source: from, target: to, isConditional: conditional, label });
  }
  return [...edges.values()];
}

function tree(
  ids: readonly string[],
  groups: ReadonlySet<string>,
  types: ReadonlyMap<string, string>,
): GraphNode[] {
  const all = new Set(ids.flatMap((id) => [...ancestors(id), id]));
  const childrenOf = Map.groupBy(all, (id) => ancestors(id).at(-1) ?? '');
  const build = (id: string): GraphNode => {
    const children = (childrenOf.get(id) ?? []).map(build);
    const name = id.split(':').at(-1) ?? id;
    const hasNodes = groups.has(id);
    const kind = children.length > 0 ? 'group' : kindOf(name);
    return {
      id,
      name: kind === 'start' || kind === 'end' ? kind : name,
      kind,
      hasNodes,
      children,
      type: types.get(id) ?? '',
    };
  };
  return (childrenOf.get('') ?? []).map(build);
}

function kindOf(name: string): NodeKind {
  if (name === '__start__') return 'start';
  return name === '__end__' ? 'end' : 'node';
}

function typeOf({ data }: DrawnNode): string {
  if (typeof data !== 'object' || data === null || !('id' in data) || !Array.isArray(data.id)) return '';
  return String(data.id.at(-1));
}

/** All nodes, outer before inner ones. */
export function allNodes(nodes: readonly GraphNode[]): GraphNode[] {
  return nodes.flatMap((node) => [node, ...allNodes(node.children)]);
}

import Elk, { type ElkExtendedEdge, type ElkNode, type ElkPoint } from 'elkjs/lib/elk-api.js';
import { allNodes, type GraphEdge, type GraphModel, type GraphNode } from './graph-model.ts';
import workerUrl from './layout-worker.ts?worker&url';

export interface PlacedNode extends GraphNode {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface PlacedEdge extends GraphEdge {
  readonly points: readonly ElkPoint[];
  /** Center of the label. */
  readonly labelAt?: ElkPoint;
}

/** Positions in px. Outer nodes come before inner ones. */
export interface GraphLayout {
  readonly width: number;
  readonly height: number;
  readonly nodes: readonly PlacedNode[];
  readonly edges: readonly PlacedEdge[];
}

const NODE_HEIGHT = 42;
const PILL_HEIGHT = 28;
const MIN_WIDTH = 104;
const GROUP_PADDING = 18;
/** Room next to the name of an expanded subgraph for its state and the collapse button, px. */
const GROUP_ROOM = 136;
const MARGIN = 16;
/**
 * Node count from which a faster, less even placement is used: for 2,000 nodes, the shortest edges would take ten times as
 * long.
 */
const MANY_NODES = 300;

const OPTIONS = {
  'elk.algorithm': 'layered',
  'elk.direction': 'DOWN',
  'elk.edgeRouting': 'ORTHOGONAL',
  'elk.hierarchyHandling': 'INCLUDE_CHILDREN',
  'elk.json.shapeCoords': 'ROOT',
  'elk.json.edgeCoords': 'ROOT',
  'elk.layered.spacing.nodeNodeBetweenLayers': '46',
  'elk.spacing.nodeNode': '36',
  'elk.spacing.edgeNode': '22',
  'elk.spacing.edgeEdge': '14',
  'elk.spacing.edgeLabel': '5',
  'elk.layered.spacing.edgeNodeBetweenLayers': '20',
  'elk.layered.spacing.edgeEdgeBetweenLayers': '12',
  // Keeps nodes in the order of the graph definition.
  'elk.layered.considerModelOrder.strategy': 'NODES_AND_EDGES',
  'elk.padding': `[top=${MARGIN},left=${MARGIN},bottom=${MARGIN},right=${MARGIN}]`,
};

/** One worker for all drawings of the page, as layouts of large graphs take seconds. */
const elk = new Elk({ workerUrl });

/** Computes node positions and edge routes in a worker. */
export async function layOut({ nodes, edges }: GraphModel): Promise<GraphLayout> {
  const placement = allNodes(nodes).length < MANY_NODES ? 'NETWORK_SIMPLEX' : 'BRANDES_KOEPF';
  const root: ElkNode = await elk.layout({
    id: 'root',
    layoutOptions: { ...OPTIONS, 'elk.layered.nodePlacement.strategy': placement },
    children: nodes.map(toElk),
    edges: edges.map(
      ({ id, source, target, label }): ElkExtendedEdge => ({
        id,
        sources: [source],
        targets: [target],
        labels: label === '' ? [] : [{ text: label, width: textWidth(label) + 6, height: 18 }],
      }),
    ),
  });
  const ways = new Map((root.edges ?? []).map((edge) => [edge.id, edge]));
  return {
    width: root.width ?? 0,
    height: root.height ?? 0,
    nodes: placed(nodes, root.children ?? []),
    edges: edges.map((edge) => ({ ...edge, ...wayOf(ways.get(edge.id)) })),
  };
}

function toElk(node: GraphNode): ElkNode {
  const { id, kind, children } = node;
  if (children.length > 0) {
    const side = sidePadding(node);
    return {
      id,
      layoutOptions: { 'elk.padding': `[top=38,left=${side},bottom=18,right=${side}]` },
      children: children.map(toElk),
    };
  }
  const isPill = kind === 'start' || kind === 'end';
  const constraint = { start: 'FIRST', end: 'LAST', node: 'NONE', group: 'NONE' }[kind];
  return {
    id,
    layoutOptions: id.includes(':') ? {} : { 'elk.layered.layering.layerConstraint': constraint },
    width: minWidth(node),
    height: isPill ? PILL_HEIGHT : NODE_HEIGHT,
  };
}

/** Minimum width of a node with its content, px. */
function minWidth(node: GraphNode): number {
  const { kind, name, hasNodes, children } = node;
  if (children.length > 0) return Math.max(...children.map(minWidth)) + 2 * sidePadding(node);
  if (kind === 'start' || kind === 'end') return 68;
  return Math.max(MIN_WIDTH, Math.ceil(textWidth(name) + (hasNodes ? 60 : 32)));
}

/** Wide enough for the name. ELK's minimum size option swaps width and height in top-down layouts. */
function sidePadding({ name, children }: GraphNode): number {
  const room = Math.ceil(textWidth(name)) + GROUP_ROOM - Math.max(...children.map(minWidth));
  return Math.max(GROUP_PADDING, Math.ceil(room / 2));
}

function placed(nodes: readonly GraphNode[], elks: readonly ElkNode[]): PlacedNode[] {
  const places = new Map(elks.map((each) => [each.id, each]));
  return nodes.flatMap((node) => {
    const { x = 0, y = 0, width = 0, height = 0, children = [] } = places.get(node.id) ?? {};
    return [{ ...node, x, y, width, height }, ...placed(node.children, children)];
  });
}

function wayOf(edge: ElkExtendedEdge | undefined): Pick<PlacedEdge, 'points' | 'labelAt'> {
  const points = (edge?.sections ?? []).flatMap(({ startPoint, bendPoints = [], endPoint }) => [
    startPoint,
    ...bendPoints,
    endPoint,
  ]);
  const label = edge?.labels?.[0];
  if (label?.x === undefined || label.y === undefined) return { points };
  return { points, labelAt: { x: label.x + (label.width ?? 0) / 2, y: label.y + (label.height ?? 0) / 2 } };
}

const canvas = document.createElement('canvas').getContext('2d');

/** Width of a text in the node font, px. */
function textWidth(text: string): number {
  if (!canvas) return text.length * 7.5;
  canvas.font = '500 13px "Inter Variable", system-ui, sans-serif';
  return canvas.measureText(text).width;
}

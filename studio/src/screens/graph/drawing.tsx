import type { KeyboardEvent } from 'react';
import type { Breakpoints } from './breakpoints.ts';
import type { GraphLayout, PlacedEdge, PlacedNode } from './layout.ts';
import { type NodeState, type NodeStatus, stateText } from './node-states.ts';
import { roundedPath } from './paths.ts';

const BOXES: Readonly<Record<NodeStatus, string>> = {
  ahead: 'fill-panel stroke-line-strong',
  running: 'fill-run-bg stroke-run',
  done: 'fill-ok-bg stroke-ok',
  waits: 'fill-wait-bg stroke-wait',
  failed: 'fill-err-bg stroke-err',
  cancelled: 'fill-idle-bg stroke-line-strong',
};
const INKS: Readonly<Record<NodeStatus, string>> = {
  ahead: 'text-ink',
  running: 'text-run',
  done: 'text-ok',
  waits: 'text-wait',
  failed: 'text-err',
  cancelled: 'text-ink-2',
};

interface DrawingProps {
  readonly layout: GraphLayout;
  readonly label: string;
  /** `undefined` if no run is shown. */
  readonly states: ReadonlyMap<string, NodeState> | undefined;
  readonly selected: string | undefined;
  readonly breakpoints: Breakpoints | undefined;
  readonly onSelect: (id: string | undefined) => void;
  readonly onExpand: (id: string) => void;
  /** Zoom factor. `undefined` fits the drawing to its container. */
  readonly zoom: number | undefined;
}

/** The graph as an SVG image in which each node is a button. */
export function Drawing({
  layout,
  label,
  states,
  selected,
  breakpoints = {},
  onSelect,
  onExpand,
  zoom,
}: DrawingProps) {
  const { width, height, nodes, edges } = layout;
  const groups = nodes.filter(({ kind }) => kind === 'group');
  const others = nodes.filter(({ kind }) => kind !== 'group');
  const node = (each: PlacedNode) => (
    <Node
      key={each.id}
      node={each}
      state={states?.get(each.id)}
      isSelected={each.id === selected}
      stops={{
        before: breakpoints.interrupt_before?.includes(each.id) ?? false,
        after: breakpoints.interrupt_after?.includes(each.id) ?? false,
      }}
      onSelect={() => onSelect(each.id === selected ? undefined : each.id)}
    />
  );
  return (
    <svg
      role="group"
      aria-label={label}
      viewBox={`0 0 ${width} ${height}`}
      width={width * (zoom ?? 1)}
      height={height * (zoom ?? 1)}
      className={`m-auto flex-none font-sans text-sm ${zoom === undefined ? 'max-h-full max-w-full' : ''}`}
    >
      <Arrowhead />
      {groups.map(node)}
      {edges.map((edge) => (
        <Edge key={edge.id} edge={edge} />
      ))}
      {others.map(node)}
      {groups.map((each) => (
        <GroupName key={each.id} node={each} state={states?.get(each.id)} />
      ))}
      {nodes
        .filter(({ hasNodes }) => hasNodes)
        .map((each) => (
          <Expander key={each.id} node={each} onExpand={() => onExpand(each.id)} />
        ))}
    </svg>
  );
}

function Arrowhead() {
  return (
    <defs>
      <marker id="arrow" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" orient="auto">
        <path d="M1 1L9 5L1 9" className="fill-transparent stroke-ink-3" strokeWidth="1.6" />
      </marker>
    </defs>
  );
}

function Edge({ edge: { points, labelAt, label, source, target, isConditional } }: { edge: PlacedEdge }) {
  return (
    <g data-edge={`${source} → ${target}`}>
      <path
        d={roundedPath(points)}
        markerEnd="url(#arrow)"
        className="fill-transparent stroke-ink-3"
        strokeWidth="1.2"
        strokeDasharray={isConditional ? '5 4' : undefined}
      />
      {labelAt && (
        <text
          x={labelAt.x}
          y={labelAt.y + 4}
          textAnchor="middle"
          className="fill-ink-2 stroke-panel text-xs [paint-order:stroke]"
          strokeWidth="4"
        >
          {label}
        </text>
      )}
    </g>
  );
}

interface NodeProps {
  readonly node: PlacedNode;
  readonly state: NodeState | undefined;
  readonly isSelected: boolean;
  /** Breakpoints. */
  readonly stops: { readonly before: boolean; readonly after: boolean };
  readonly onSelect: () => void;
}

function Node({ node, state, isSelected, stops, onSelect }: NodeProps) {
  const { x, y, width, height, kind, name } = node;
  const words = wordsOf(node, state);
  const told = [words, stops.before && 'runs stop before it', stops.after && 'runs stop after it'];
  const radius = { start: height / 2, end: height / 2, group: 12, node: 8 }[kind];
  return (
    <g
      role="button"
      tabIndex={0}
      aria-pressed={isSelected}
      aria-label={[name, ...told.filter(Boolean)].join(', ')}
      transform={`translate(${x} ${y})`}
      className={`group cursor-pointer outline-none ${boxOf(node, state)} ${inkOf(node, state)}`}
      onClick={onSelect}
      onKeyDown={(event) => onKey(event, onSelect)}
    >
      <rect
        width={width}
        height={height}
        rx={radius}
        fillOpacity={kind === 'group' ? 0.4 : 1}
        strokeWidth={isSelected ? 2.5 : 1.2}
        className={`group-hover:stroke-accent group-focus-visible:stroke-accent group-focus-visible:[stroke-width:3] ${isSelected ? 'stroke-accent' : ''}`}
      />
      {kind !== 'group' && <Name node={node} words={words} />}
      {stops.before && <Stop x={width / 2} y={0} />}
      {stops.after && <Stop x={width / 2} y={height} />}
    </g>
  );
}

/** A breakpoint mark where edges enter or leave a node. */
function Stop({ x, y }: { x: number; y: number }) {
  return <circle cx={x} cy={y} r="5" strokeWidth="1.5" className="fill-err stroke-panel" />;
}

function Name({ node: { kind, name, width, height, hasNodes }, words }: { node: PlacedNode; words: string }) {
  const x = (width - (hasNodes ? 22 : 0)) / 2;
  const y = height / 2;
  const weight = kind === 'node' ? 'font-medium' : '';
  return (
    <>
      <text
        x={x}
        y={words === '' ? y + 4.5 : y - 3}
        textAnchor="middle"
        className={`fill-current stroke-none text-sm ${weight}`}
      >
        {name}
      </text>
      {/* For screen readers: without the space the two would be one word. */ ' '}
      {words !== '' && (
        <text x={x} y={y + 12.5} textAnchor="middle" className="fill-current stroke-none text-xs">
          {words}
        </text>
      )}
    </>
  );
}

/** The name of an expanded subgraph, above the edges that enter on the same side. */
function GroupName({ node, state }: Pick<NodeProps, 'node' | 'state'>) {
  const words = wordsOf(node, state);
  return (
    <text
      x={node.x + 16}
      y={node.y + 24}
      strokeWidth="5"
      className={`pointer-events-none fill-current stroke-panel text-sm font-medium [paint-order:stroke] ${inkOf(node, state)}`}
    >
      {words === '' ? node.name : `${node.name} · ${words}`}
    </text>
  );
}

function isEnd({ kind }: PlacedNode): boolean {
  return kind === 'start' || kind === 'end';
}

function boxOf(node: PlacedNode, state: NodeState | undefined): string {
  return isEnd(node) ? 'fill-idle-bg stroke-transparent' : BOXES[state?.status ?? 'ahead'];
}

function inkOf(node: PlacedNode, state: NodeState | undefined): string {
  return isEnd(node) ? 'text-ink-2' : INKS[state?.status ?? 'ahead'];
}

function wordsOf(node: PlacedNode, state: NodeState | undefined): string {
  return state === undefined || state.status === 'ahead' || isEnd(node) ? '' : stateText(state);
}

function Expander({
  node: { x, y, name, width, height, kind },
  onExpand,
}: {
  node: PlacedNode;
  onExpand: () => void;
}) {
  const isOpen = kind === 'group';
  const top = isOpen ? 7 : (height - 24) / 2;
  return (
    <g
      role="button"
      tabIndex={0}
      aria-expanded={isOpen}
      aria-label={`Nodes of ${name}`}
      transform={`translate(${x + width - 32} ${y + top})`}
      className="group cursor-pointer text-ink-2 outline-none"
      onClick={onExpand}
      onKeyDown={(event) => onKey(event, onExpand)}
    >
      <rect
        width={24}
        height={24}
        rx={6}
        className="fill-transparent stroke-transparent group-hover:fill-sunk group-focus-visible:stroke-accent"
        strokeWidth="2"
      />
      <path d={isOpen ? 'M7 12H17' : 'M7 12H17M12 7V17'} className="stroke-current" strokeWidth="1.5" />
    </g>
  );
}

function onKey(event: KeyboardEvent, act: () => void): void {
  if (event.key !== 'Enter' && event.key !== ' ') return;
  event.preventDefault();
  act();
}

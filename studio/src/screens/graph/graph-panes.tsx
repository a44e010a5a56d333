import { type ReactNode, useMemo } from 'react';
import { Card } from '../../ui/page.tsx';
import type { Breakpoints } from './breakpoints.ts';
import { GraphView } from './graph-view.tsx';
import { NodePanel } from './node-panel.tsx';

/** What is selected in a graph, as in the address. */
export interface GraphSelection {
  readonly node?: string | undefined;
  /** Ids of the expanded subgraphs, separated by commas. */
  readonly open?: string;
}

interface GraphPanesProps {
  readonly assistantId: string;
  readonly runId: string | undefined;
  readonly title?: string;
  readonly selection: GraphSelection;
  readonly onSelect: (change: GraphSelection) => void;
  readonly breakpoints?: Breakpoints;
  /** Actions of the selected node. */
  readonly actions?: ReactNode;
  /** Shown while no node is selected. */
  readonly hint: string;
}

/** A graph with the selected node next to it. */
export function GraphPanes({
  assistantId,
  runId,
  selection,
  onSelect,
  actions,
  hint,
  ...view
}: GraphPanesProps) {
  const { node, open = '' } = selection;
  const expanded = useMemo(() => open.split(',').filter((id) => id !== ''), [open]);
  return (
    <div className="grid min-h-96 flex-1 gap-4 max-lg:auto-rows-max lg:grid-cols-[1fr_320px] lg:grid-rows-[minmax(0,1fr)]">
      <GraphView
        {...view}
        assistantId={assistantId}
        runId={runId}
        selected={node}
        onSelect={(id) => onSelect({ node: id })}
        expanded={expanded}
        onExpand={(ids) => onSelect({ open: ids.join(',') })}
        className="max-lg:h-[70vh]"
      />
      {node ? (
        <NodePanel key={node} assistantId={assistantId} runId={runId} node={node}>
          {actions}
        </NodePanel>
      ) : (
        <Card className="p-4 text-ink-3 max-lg:hidden">{hint}</Card>
      )}
    </div>
  );
}

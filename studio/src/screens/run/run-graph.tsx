import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { Schemas } from '../../api/client.ts';
import { Card } from '../../ui/page.tsx';
import { GraphView } from '../graph/graph-view.tsx';
import { NodePanel } from '../graph/node-panel.tsx';

/** The graph of the run's assistant, with the state of each node in the run. */
export function RunGraph({ run: { assistant_id, run_id } }: { run: Schemas['Run'] }) {
  const { node, open = '' } = useSearch({ from: '/runs/$runId' });
  const navigate = useNavigate({ from: '/runs/$runId' });
  const expanded = useMemo(() => open.split(',').filter((id) => id !== ''), [open]);
  const set = (change: { node?: string | undefined; open?: string }) =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  return (
    <div className="grid min-h-96 flex-1 gap-4 max-lg:auto-rows-max lg:grid-cols-[1fr_320px] lg:grid-rows-[minmax(0,1fr)]">
      <GraphView
        assistantId={assistant_id}
        runId={run_id}
        selected={node}
        onSelect={(id) => set({ node: id })}
        expanded={expanded}
        onExpand={(ids) => set({ open: ids.join(',') })}
        className="max-lg:h-[70vh]"
      />
      {node ? (
        <NodePanel key={node} assistantId={assistant_id} runId={run_id} node={node} />
      ) : (
        <Card className="p-4 text-ink-3 max-lg:hidden">Select a node to see what it did in the run.</Card>
      )}
    </div>
  );
}

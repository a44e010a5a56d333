import { useSearch } from '@tanstack/react-router';
import type { Schemas } from '../../api/client.ts';
import { useSearchChange } from '../../ui/use-search-change.ts';
import { GraphPanes, type GraphSelection } from '../graph/graph-panes.tsx';

/** The graph of the run's assistant, with the state of each node in the run. */
export function RunGraph({ run: { assistant_id, run_id } }: { run: Schemas['Run'] }) {
  return (
    <GraphPanes
      assistantId={assistant_id}
      runId={run_id}
      selection={useSearch({ from: '/runs/$runId' })}
      onSelect={useSearchChange<GraphSelection>()}
      hint="Select a node to see what it did in the run."
    />
  );
}

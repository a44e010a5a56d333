import { useQuery } from '@tanstack/react-query';
import { nodesQuery } from './graph-queries.ts';
import { NodeBreakpoints } from './node-breakpoints.tsx';
import { RunNode } from './run-node.tsx';

interface NodeActionsProps {
  readonly assistantId: string;
  /** Id of the node in the drawing. */
  readonly node: string;
  readonly runId: string | undefined;
}

/** Actions of a node: breakpoints, and running it on its own. */
export function NodeActions({ assistantId, node, runId }: NodeActionsProps) {
  const around = node.split(':').slice(0, -1).join(':');
  const { data } = useQuery({ ...nodesQuery(assistantId), enabled: around !== '' });
  if (data?.find(({ id }) => id === node)?.can_run_alone === false) {
    return (
      <p className="text-ink-2">
        Code of <bdi>{around}</bdi> calls this graph, so that a run can neither stop at its nodes nor begin
        there. Run <bdi>{around}</bdi> instead.
      </p>
    );
  }
  return (
    <>
      <p className="flex items-center gap-4">
        Stop in this tab: <NodeBreakpoints assistant_id={assistantId} node={node} />
      </p>
      <RunNode {...{ assistantId, node, runId }} />
    </>
  );
}

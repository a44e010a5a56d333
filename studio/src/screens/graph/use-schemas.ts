import { useQuery } from '@tanstack/react-query';
import { schemasQuery } from '../../api/assistants.ts';
import { explanationQuery } from '../run/run-queries.ts';
import { runSchemasQuery, runSubgraphsQuery, subgraphsQuery } from './graph-queries.ts';

/** Schemas of the graph or subgraph that contains a node. With a run, those of the run's graph. */
export function useSchemas(assistantId: string, node: string, runId?: string) {
  const levels = node.split(':').slice(0, -1);
  const isInSubgraph = levels.length > 0;
  const isOfRun = runId !== undefined;
  const { data: run, error: noRun } = useQuery({ ...explanationQuery(runId ?? ''), enabled: isOfRun });
  // A run that cannot be read has no graph, so the assistant's is drawn.
  const isOfAssistant = !isOfRun || noRun !== null;
  const ids = { run_id: runId ?? '', thread_id: run?.thread_id ?? '' };
  const hasRun = !isOfAssistant && run !== undefined;
  const root = useQuery({ ...schemasQuery(assistantId), enabled: isOfAssistant && !isInSubgraph });
  const inner = useQuery({ ...subgraphsQuery(assistantId), enabled: isOfAssistant && isInSubgraph });
  const rootOfRun = useQuery({ ...runSchemasQuery(ids), enabled: hasRun && !isInSubgraph });
  const innerOfRun = useQuery({ ...runSubgraphsQuery(ids), enabled: hasRun && isInSubgraph });
  const [ofRoot, ofInner] = isOfAssistant ? [root, inner] : [rootOfRun, innerOfRun];
  const { error, isPending, refetch } = isInSubgraph ? ofInner : ofRoot;
  return {
    schemas: isInSubgraph ? ofInner.data?.[levels.join('|')] : ofRoot.data,
    error,
    isPending,
    refetch,
  };
}

import { useQuery } from '@tanstack/react-query';
import { schemasQuery } from '../../api/assistants.ts';
import { explanationQuery } from '../run/run-queries.ts';
import { runSchemasQuery, runSubgraphsQuery, subgraphsQuery } from './graph-queries.ts';

/** The schemas of the graph that a node is in: that of the assistant, or a subgraph of it; with a run, those of its graph. */
export function useSchemas(assistantId: string, node: string, runId?: string) {
  const levels = node.split(':').slice(0, -1);
  const isInSubgraph = levels.length > 0;
  const isOfRun = runId !== undefined;
  const { data: run, error: noRun } = useQuery({ ...explanationQuery(runId ?? ''), enabled: isOfRun });
  // A run that cannot be read has no graph: the assistant's is drawn.
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

import { useQuery } from '@tanstack/react-query';
import { schemasQuery } from '../../api/assistants.ts';
import { subgraphsQuery } from './graph-queries.ts';

/** The schemas of the graph that a node is in: that of the assistant, or a subgraph of it. */
export function useSchemas(assistantId: string, node: string) {
  const levels = node.split(':').slice(0, -1);
  const isInSubgraph = levels.length > 0;
  const root = useQuery({ ...schemasQuery(assistantId), enabled: !isInSubgraph });
  const inner = useQuery({ ...subgraphsQuery(assistantId), enabled: isInSubgraph });
  const { error, isPending, refetch } = isInSubgraph ? inner : root;
  return { schemas: isInSubgraph ? inner.data?.[levels.join('|')] : root.data, error, isPending, refetch };
}

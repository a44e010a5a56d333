import { addressOf } from '../../graphs/checkpoint-config.ts';
import type { CheckpointAccess } from '../../graphs/checkpointer/checkpoint-access.ts';
import { firstPageSize } from '../../graphs/checkpointer/history-size.ts';
import type { GraphConfig, HistoryQuery } from '../../graphs/graph.ts';
import type { CheckpointQuery } from '../../storage/checkpoints/find.ts';
import { checkpointPage } from '../protocol/checkpoints.ts';
import { type FirstSearch, searchOf } from '../protocol/first-search.ts';

/** Makes the search with which a session will begin. A wrong guess costs a message; the host then asks. */
export async function firstSearch(access: CheckpointAccess, query: CheckpointQuery): Promise<FirstSearch> {
  return { search: searchOf(query), page: checkpointPage(await access.find(query)) };
}

/** LangGraph's search for the checkpoint that a configuration names, or for the latest one. */
export function checkpointQuery(config: GraphConfig): CheckpointQuery {
  const { thread_id, ns = '', checkpoint_id } = addressOf({ configurable: config.configurable });
  return { thread_id, ns, checkpoint_id, limit: 1 };
}

/** Its search for the first page of a history. */
export function historyQuery({
  config,
  limit,
  before,
  metadata,
}: Omit<HistoryQuery, 'memory'>): CheckpointQuery {
  const before_id = before && addressOf({ configurable: before.configurable }).checkpoint_id;
  return { ...checkpointQuery(config), before_id, metadata, limit: firstPageSize(limit) };
}

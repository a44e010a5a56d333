import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { controlPlane, type DeploymentLog, type LogKind } from '../../api/control-plane.ts';

/** Maximum number of lines shown. The API and the command line have all of them. */
export const MAX_LINES = 500;
/** Polling interval while lines may follow, ms. */
const POLL_MS = 1_000;

interface Log {
  readonly id: string;
  readonly revision_id: string;
  readonly kind: LogKind;
  /** True if no line will follow. */
  readonly isOver: boolean;
}

/**
 * The newest lines of a log in order, followed by new ones. Each request asks for lines since the last one, so that sleep,
 * another tab or a restart loses nothing.
 */
export function useLog({ id, revision_id, kind, isOver }: Log) {
  const client = useQueryClient();
  // After the log has ended it is read once more: lines may have come after the last request.
  const queryKey = ['deployment', id, 'log', revision_id, kind, { isOver }];
  const options = queryOptions({
    queryKey,
    queryFn: async () => {
      const before = client.getQueryData<readonly DeploymentLog[]>(queryKey) ?? [];
      const start_time = before.at(-1)?.timestamp;
      const page = { order: 'desc', limit: MAX_LINES, start_time } as const;
      const { logs } = await controlPlane.logs(id, revision_id, kind, page);
      return joined(before, logs.toReversed());
    },
    placeholderData: (before, query) =>
      query?.queryKey[3] === revision_id && query.queryKey[4] === kind ? before : undefined,
    refetchInterval: isOver ? false : POLL_MS,
    staleTime: isOver ? Number.POSITIVE_INFINITY : 0,
  });
  return useQuery(options);
}

/** Merges overlapping lines. If the page starts after the last line, older lines are dropped, as there is a gap. */
function joined(before: readonly DeploymentLog[], page: readonly DeploymentLog[]): readonly DeploymentLog[] {
  const known = new Set(before.map(({ id }) => id));
  const added = page.filter(({ id }) => !known.has(id));
  if (added.length === 0) return before;
  if (added.length === MAX_LINES) return added;
  return [...before, ...added].slice(-MAX_LINES);
}

import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { controlPlane, type DeploymentLog, type LogKind } from '../../api/control-plane.ts';

/** The newest lines are shown; the API and the command line have all. */
export const MAX_LINES = 500;
/** Between two questions while lines may follow, ms. */
const POLL_MS = 1_000;

interface Log {
  readonly id: string;
  readonly revision_id: string;
  readonly kind: LogKind;
  /** Nothing follows. */
  readonly isOver: boolean;
}

/**
 * The newest lines of a log, the oldest first, and those that are written from now on. Each question is for what was
 * written since the last line, so that it holds whatever happened in between: sleep, another tab, a restart.
 */
export function useLog({ id, revision_id, kind, isOver }: Log) {
  const client = useQueryClient();
  // Once nothing follows, it is read a last time: lines may have come after the last question.
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

/** Lines that both have are there once. If the page begins after them, older ones would leave a gap, and go. */
function joined(before: readonly DeploymentLog[], page: readonly DeploymentLog[]): readonly DeploymentLog[] {
  const known = new Set(before.map(({ id }) => id));
  const added = page.filter(({ id }) => !known.has(id));
  if (added.length === 0) return before;
  if (added.length === MAX_LINES) return added;
  return [...before, ...added].slice(-MAX_LINES);
}

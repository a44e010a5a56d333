import { type Query, type QueryClient, type QueryFilters, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { API_URL } from './base.ts';
import { sessionQuery } from './session.ts';
import { watchVisibility } from './visibility.ts';

/** Ids of the changed rows of one kind. With `more`, the list is incomplete. */
interface ChangedIds {
  readonly ids: readonly string[];
  readonly more: boolean;
}

/**
 * Delay before the reader is notified that the browser is reconnecting, and between our own attempts where it does not
 * reconnect, ms.
 */
const AWAY_MS = 5_000;

/**
 * Keeps the shown data fresh without polling, as other clients and the server change it. By convention a query key starts
 * with the kind of its rows, such as `run` or `thread`, followed by an id, several ids, or `list`. A hidden page does not
 * listen, and refetches everything when it is visible again. Returns true while the server is unreachable. `session`
 * identifies the session, as each sees different rows; `undefined` does not listen.
 */
export function useLiveQueries(session: string | undefined): boolean {
  const client = useQueryClient();
  const [isAway, setAway] = useState(false);
  useEffect(() => {
    if (session === undefined) return;
    let source: EventSource | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    function open() {
      source = new EventSource(`${API_URL}/system/changes`);
      // Changes before a connection are unknown, including those between the first responses and the first connection.
      source.addEventListener('ready', () => {
        clearTimeout(timer);
        timer = undefined;
        setAway(false);
        void client.invalidateQueries();
      });
      source.addEventListener('changes', ({ data }: MessageEvent<string>) => {
        const changes = JSON.parse(data) as Record<string, ChangedIds>;
        for (const [kind, ids] of Object.entries(changes)) refresh(client, { predicate: isOf(kind, ids) });
        refresh(client, { queryKey: ['system'] });
      });
      source.addEventListener('error', () => {
        timer ??= setTimeout(lose, AWAY_MS);
      });
    }
    function lose() {
      timer = undefined;
      setAway(true);
      // The browser does not reconnect after a response that is not a stream, such as a proxy's. The session may have ended.
      if (source?.readyState !== EventSource.CLOSED) return;
      void client.invalidateQueries({ queryKey: sessionQuery.queryKey });
      open();
    }
    function close() {
      source?.close();
      clearTimeout(timer);
      timer = undefined;
    }
    open();
    const unwatch = watchVisibility(close, open);
    return () => {
      unwatch();
      close();
      setAway(false);
    };
  }, [client, session]);
  return session !== undefined && isAway;
}

function isOf(kind: string, { ids, more }: ChangedIds) {
  return ({ queryKey: [queryKind, id], state }: Query) =>
    queryKind === kind
      ? more || [id].flat().some((each) => each === 'list' || ids.includes(String(each)))
      : kind === 'thread' && queryKind === 'run' && (more || ids.includes(threadOf(state.data)));
}

/** The thread of a run. Runs deleted with their thread are not reported. */
function threadOf(data: unknown): string {
  return (data as { readonly thread_id?: string } | undefined)?.thread_id ?? '';
}

/** Queries to refetch once their current fetch has ended. */
const behind = new WeakSet<Query>();

/**
 * Refetches the queries that a change affects. A fetch in flight may have read before the change. It is not cancelled, or no
 * response would ever arrive while changes are faster; another fetch follows it.
 */
function refresh(client: QueryClient, filters: QueryFilters): void {
  for (const query of client.getQueryCache().findAll(filters)) {
    if (query.state.fetchStatus !== 'idle') refreshAfterwards(client, query);
    else void client.invalidateQueries({ queryKey: query.queryKey, exact: true });
  }
}

function refreshAfterwards(client: QueryClient, query: Query): void {
  if (behind.has(query)) return;
  behind.add(query);
  const unsubscribe = client.getQueryCache().subscribe((event) => {
    if (event.query !== query || (event.type !== 'removed' && query.state.fetchStatus !== 'idle')) return;
    unsubscribe();
    behind.delete(query);
    // A fetch that has just ended counts as running until this turn of the event loop ends.
    queueMicrotask(() => refresh(client, { queryKey: query.queryKey, exact: true }));
  });
}

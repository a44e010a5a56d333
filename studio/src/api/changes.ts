import { type Query, type QueryClient, type QueryFilters, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { API_URL } from './base.ts';
import { sessionQuery } from './session.ts';
import { watchVisibility } from './visibility.ts';

/** Ids of rows of one kind that changed; with `more`, others too. */
interface ChangedIds {
  readonly ids: readonly string[];
  readonly more: boolean;
}

/** Before the browser's own attempts are told to the reader, and between ours where it makes none, ms. */
const AWAY_MS = 5_000;

/**
 * Keeps what is shown fresh while other clients and the server change it, without polling. By convention a query key
 * begins with the kind of its rows, `run` or `thread` for example, and goes on with the id of one, or with `list`. Out of
 * sight the page hears nothing, and reads everything anew when it is seen again. True while the server is away.
 * `session` tells the sessions of this page apart, as each hears of other rows; `undefined` hears nothing.
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
      // What changed before a connection is unknown: also between the first answers and the first connection.
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
      // After an answer that is no stream, such as a proxy's, the browser does not try again. It may be the session's end.
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
      ? more || id === 'list' || ids.includes(String(id))
      : kind === 'thread' && queryKind === 'run' && (more || ids.includes(threadOf(state.data)));
}

/** The thread of a run. Runs that are deleted with their thread are not named. */
function threadOf(data: unknown): string {
  return (data as { readonly thread_id?: string } | undefined)?.thread_id ?? '';
}

/** Queries that are fetched again when their fetch has ended. */
const behind = new WeakSet<Query>();

/**
 * Fetches anew what a change concerns. A fetch that is under way may have read before the change. It is not dropped: while
 * changes come faster than answers, none would ever arrive. Another one follows it.
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
    // What has just ended is not over before this turn is.
    queueMicrotask(() => refresh(client, { queryKey: query.queryKey, exact: true }));
  });
}

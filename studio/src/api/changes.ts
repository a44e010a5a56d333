import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { API_URL } from './base.ts';

/** Ids of rows of one kind that changed; with `more`, others too. */
interface ChangedIds {
  readonly ids: readonly string[];
  readonly more: boolean;
}

/**
 * Keeps what is shown fresh while other clients and the server change it, without polling. By convention a query key
 * begins with the kind of its rows, `run` or `thread` for example, and goes on with the id of one, or with `list`.
 */
export function useLiveQueries(isOn: boolean): void {
  const client = useQueryClient();
  useEffect(() => {
    if (!isOn) return;
    const source = new EventSource(`${API_URL}/system/changes`);
    // What changed before a connection is unknown: also between the first answers and the first connection.
    source.addEventListener('ready', () => void client.invalidateQueries());
    source.addEventListener('changes', ({ data }: MessageEvent<string>) => {
      const changes = JSON.parse(data) as Record<string, ChangedIds>;
      for (const [kind, ids] of Object.entries(changes)) refresh(client, kind, ids);
      void client.invalidateQueries({ queryKey: ['system'] });
    });
    return () => source.close();
  }, [client, isOn]);
}

function refresh(client: QueryClient, kind: string, { ids, more }: ChangedIds): void {
  void client.invalidateQueries({
    predicate: ({ queryKey: [queryKind, id] }) =>
      queryKind === kind && (more || id === 'list' || ids.includes(String(id))),
  });
}

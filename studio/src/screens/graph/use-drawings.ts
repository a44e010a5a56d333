import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { explanationQuery } from '../run/run-queries.ts';
import { drawingQuery } from './graph-queries.ts';

/** The graph of an assistant or of one of its runs, with and without expanded subgraphs. */
export function useDrawings(assistantId: string, runId: string | undefined) {
  const { data: run, error } = useQuery({ ...explanationQuery(runId ?? ''), enabled: runId !== undefined });
  // A run that cannot be read has no graph. The assistant's graph is shown, with the reason.
  const isKnown = runId === undefined || run !== undefined || error !== null;
  const ids = runId === undefined || error ? undefined : run && { run_id: runId, thread_id: run.thread_id };
  const options = { enabled: isKnown, placeholderData: keepPreviousData };
  const plain = useQuery({ ...drawingQuery(assistantId, false, ids), ...options });
  const xrayed = useQuery({ ...drawingQuery(assistantId, true, ids), ...options });
  const failed = [plain, xrayed].find((query) => query.error !== null);
  return {
    plain: plain.data,
    xrayed: xrayed.data,
    /** False if the run's graph is missing and the assistant's is drawn. */
    isOwn: isKnown && !plain.isPlaceholderData && !xrayed.isPlaceholderData,
    ended_at: run?.ended_at ?? null,
    error: failed?.error ?? null,
    retry: failed && (() => void failed.refetch()),
  };
}

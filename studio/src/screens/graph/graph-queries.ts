import { queryOptions } from '@tanstack/react-query';
import { api, dataOf, type Schemas } from '../../api/client.ts';
import type { ShownStep } from '../run/run-queries.ts';
import type { Drawing } from './graph-model.ts';

type RunIds = Pick<Schemas['RunExplanation'], 'run_id' | 'thread_id'>;

/** A drawing with the additional fields of a run's graph. */
export type RunDrawing = Drawing & Partial<Schemas['RunGraph']>;

/**
 * The compiled graph of an assistant, or of one of its runs, as the assistant may have changed since. With `xray`, subgraphs
 * are replaced by their nodes.
 */
export const drawingQuery = (assistant_id: string, xray: boolean, run?: RunIds) =>
  queryOptions({
    queryKey: ['assistant', assistant_id, 'graph', { xray, run_id: run?.run_id }],
    queryFn: async () => {
      const query = { xray };
      return (await (run
        ? dataOf(
            api.GET('/threads/{thread_id}/runs/{run_id}/graph', {
              params: { path: { thread_id: run.thread_id, run_id: run.run_id }, query },
            }),
          )
        : dataOf(
            api.GET('/assistants/{assistant_id}/graph', { params: { path: { assistant_id }, query } }),
          ))) as RunDrawing;
    },
    staleTime: 60_000,
  });

/** The nodes of a graph and its subgraphs, with their tools. With `source`, the server also looks up their code. */
export const nodesQuery = (assistant_id: string, source = false) =>
  queryOptions({
    queryKey: ['assistant', assistant_id, 'nodes', { source }],
    queryFn: () =>
      dataOf(
        api.GET('/assistants/{assistant_id}/nodes', {
          params: { path: { assistant_id }, query: source ? { source } : {} },
        }),
      ),
    staleTime: 60_000,
  });

/** Schemas of all subgraphs, keyed by the node names on the path to them, joined by `|`. */
export const subgraphsQuery = (assistant_id: string) =>
  queryOptions({
    queryKey: ['assistant', assistant_id, 'subgraphs'],
    queryFn: () =>
      dataOf(
        api.GET('/assistants/{assistant_id}/subgraphs', {
          params: { path: { assistant_id }, query: { recurse: true } },
        }),
      ),
    staleTime: 60_000,
  });

/** Schemas of a run's graph. Those of its assistant may have changed since. */
export const runSchemasQuery = ({ run_id, thread_id }: RunIds) =>
  queryOptions({
    queryKey: ['run', run_id, 'schemas'],
    queryFn: () =>
      dataOf(
        api.GET('/threads/{thread_id}/runs/{run_id}/schemas', { params: { path: { thread_id, run_id } } }),
      ),
    staleTime: 60_000,
  });

/** The same as `subgraphsQuery` of the graph of a run. */
export const runSubgraphsQuery = ({ run_id, thread_id }: RunIds) =>
  queryOptions({
    queryKey: ['run', run_id, 'subgraphs'],
    queryFn: () =>
      dataOf(
        api.GET('/threads/{thread_id}/runs/{run_id}/subgraphs', {
          params: { path: { thread_id, run_id }, query: { recurse: true } },
        }),
      ),
    staleTime: 60_000,
  });

/** Names of the current or next nodes of a thread, and the run that wrote its newest checkpoint. */
export const nextNodesQuery = (run_id: string, thread_id: string) =>
  queryOptions({
    queryKey: ['run', run_id, 'next'],
    queryFn: () =>
      dataOf(
        api.GET('/threads/{thread_id}/state', {
          params: { path: { thread_id }, query: { select: ['next', 'metadata'] } },
        }),
      ),
  });

/** One or all values of the state before a step. They never change. */
export const stepValuesQuery = (
  thread_id: string,
  { namespace, checkpoint_id }: Pick<ShownStep, 'namespace' | 'checkpoint_id'>,
  channel: string | null,
) =>
  queryOptions({
    queryKey: ['checkpoint', thread_id, namespace, checkpoint_id, channel],
    queryFn: async () => {
      const select = [channel === null ? 'values' : `values.${channel}`];
      const body = { checkpoint: { checkpoint_ns: namespace, checkpoint_id }, subgraphs: false, select };
      const { values } = await dataOf(
        api.POST('/threads/{thread_id}/state/checkpoint', { params: { path: { thread_id } }, body }),
      );
      return (values ?? {}) as Readonly<Record<string, unknown>>;
    },
    staleTime: Number.POSITIVE_INFINITY,
  });

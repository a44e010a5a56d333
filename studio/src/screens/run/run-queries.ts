import { queryOptions } from '@tanstack/react-query';
import { api, dataOf, type Schemas } from '../../api/client.ts';

export type Steps = Awaited<ReturnType<typeof allSteps>>;
export type Step = Steps['steps'][number];
export type Attempt = Steps['attempts'][number];

/** Why a run is as it is; it also says which thread it belongs to. */
export const explanationQuery = (run_id: string) =>
  queryOptions({
    queryKey: ['run', run_id, 'explanation'],
    queryFn: () => dataOf(api.GET('/runs/{run_id}/explain', { params: { path: { run_id } } })),
  });

export const runQuery = ({ run_id, thread_id }: Pick<Schemas['RunExplanation'], 'run_id' | 'thread_id'>) =>
  queryOptions({
    queryKey: ['run', run_id, 'run'],
    queryFn: () =>
      dataOf(api.GET('/threads/{thread_id}/runs/{run_id}', { params: { path: { thread_id, run_id } } })),
  });

export const stepsQuery = (run_id: string) =>
  queryOptions({ queryKey: ['run', run_id, 'steps'], queryFn: () => allSteps(run_id) });

export const logsQuery = (run_id: string) =>
  queryOptions({
    queryKey: ['run', run_id, 'logs'],
    queryFn: () => dataOf(api.GET('/runs/{run_id}/logs', { params: { path: { run_id } } })),
  });

/** Every recorded step, page by page. */
async function allSteps(run_id: string) {
  const page = (after?: string) =>
    dataOf(
      api.GET('/runs/{run_id}/steps', {
        params: { path: { run_id }, query: after === undefined ? {} : { after } },
      }),
    );
  const first = await page();
  const steps = [...first.steps];
  for (let { next } = first; next !== null; ) {
    const following = await page(next);
    steps.push(...following.steps);
    next = following.next;
  }
  return { ...first, steps };
}

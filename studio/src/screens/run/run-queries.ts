import { queryOptions } from '@tanstack/react-query';
import { api, dataOf, type Schemas } from '../../api/client.ts';

export type Steps = Awaited<ReturnType<typeof allSteps>>;
export type Step = Steps['steps'][number];
export type Attempt = Steps['attempts'][number];
/** A recorded step, or one that is executing or has ended since the newest checkpoint. */
export type ShownStep = Step | Steps['current'][number];

/** Polling interval for an executing run, ms: `/system/changes` reports runs, not their steps and log lines. */
const POLL_MS = 1000;

/** `refetchInterval` for the steps and logs of a run with this status. */
export function pollOf(status: string | undefined): number | false {
  return status === 'running' || status === 'pending' ? POLL_MS : false;
}

/** The explanation of a run, which also names its thread. */
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

/** A step that has ended, with what it was given and returned: it does not change any more. */
export const stepQuery = (run_id: string, step_id: string) =>
  queryOptions({
    queryKey: ['run', run_id, 'step', step_id],
    queryFn: () => stepWithContents(run_id, step_id),
    staleTime: Number.POSITIVE_INFINITY,
  });

export const logsQuery = (run_id: string) =>
  queryOptions({
    queryKey: ['run', run_id, 'logs'],
    queryFn: () => dataOf(api.GET('/runs/{run_id}/logs', { params: { path: { run_id } } })),
  });

export type DetailedStep = Awaited<ReturnType<typeof stepWithContents>>;
export type StepContents = NonNullable<DetailedStep['contents']>;

function stepWithContents(run_id: string, step_id: string) {
  const params = { path: { run_id, step_id } };
  return dataOf(api.GET('/runs/{run_id}/steps/{step_id}', { params }));
}

/** All recorded steps, loaded page by page, and those not recorded yet. */
async function allSteps(run_id: string) {
  const page = (after?: string) =>
    dataOf(
      api.GET('/runs/{run_id}/steps', {
        params: { path: { run_id }, query: after === undefined ? {} : { after } },
      }),
    );
  let last = await page();
  const steps = [...last.steps];
  while (last.next !== null) {
    last = await page(last.next);
    steps.push(...last.steps);
  }
  return { ...last, steps, current: last.current ?? [] };
}

import type { Run } from '../../src/schemas/runs.ts';
import type { Thread } from '../../src/schemas/threads.ts';
import type { HttpClient } from './http-client.ts';

/** Where a run is. */
export interface RemoteRun {
  readonly thread_id: string;
  readonly run_id: string;
}

/** How tests of whole servers speak about runs; each call is one request. */
export async function createThread(http: HttpClient): Promise<string> {
  const { thread_id } = await http.call<Thread>('POST', '/threads', {});
  return thread_id;
}

/** A background run; on a thread of its own unless one is given. */
export async function startRun(
  http: HttpClient,
  body: Record<string, unknown>,
  thread_id?: string,
): Promise<RemoteRun> {
  const thread = thread_id ?? (await createThread(http));
  const { run_id } = await http.call<Run>('POST', `/threads/${thread}/runs`, body);
  return { thread_id: thread, run_id };
}

/** The final values, as soon as the run has ended. */
export function joinRun(
  http: HttpClient,
  { thread_id, run_id }: RemoteRun,
): Promise<Record<string, unknown>> {
  return http.call('GET', `/threads/${thread_id}/runs/${run_id}/join`);
}

export function getRun(http: HttpClient, { thread_id, run_id }: RemoteRun): Promise<Run> {
  return http.call('GET', `/threads/${thread_id}/runs/${run_id}`);
}

/** Newest first. */
export function listRuns(http: HttpClient, thread_id: string): Promise<Run[]> {
  return http.call('GET', `/threads/${thread_id}/runs?limit=1000`);
}

export function getThread(http: HttpClient, thread_id: string): Promise<Thread> {
  return http.call('GET', `/threads/${thread_id}`);
}

/** `attempt` of each `metadata` event in the log of a resumable run that has ended. */
export async function attemptsOf(http: HttpClient, { thread_id, run_id }: RemoteRun): Promise<number[]> {
  const path = `/threads/${thread_id}/runs/${run_id}/stream`;
  const { events } = await http.stream('GET', path, { headers: { 'last-event-id': '-1' } });
  const attempts: number[] = [];
  for await (const { event, data } of events) {
    if (event === 'metadata') attempts.push((JSON.parse(data) as { attempt: number }).attempt);
  }
  return attempts;
}

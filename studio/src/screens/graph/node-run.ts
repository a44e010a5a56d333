import { api, dataOf, type Schemas } from '../../api/client.ts';
import { queryClient } from '../../api/query-client.ts';
import { runEvents } from '../../api/run-events.ts';
import { startRun } from '../../api/start-run.ts';
import { isObject, newId } from '../../api/values.ts';
import type { Asked } from '../interrupts/review.ts';
import { stepsQuery } from '../run/run-queries.ts';
import { NODE_ALONE } from '../threads/threads-query.ts';

/** What to execute, and with which command. */
export interface NodeRunRequest {
  readonly assistant_id: string;
  /** Id of the node in the drawing. */
  readonly node: string;
  readonly command: Schemas['Command'];
  /** Thread of an earlier run of the node that is waiting for an answer. A new one by default. */
  readonly thread_id?: string;
}

export interface NodeRunOutcome {
  /** What the node returned, once per execution. Null if it returned nothing. */
  readonly writes: readonly unknown[];
  readonly asked: readonly Asked[];
  /** `Name: message` of the error. */
  readonly error: string | undefined;
  readonly status: string;
  /** Duration of the node, ms. `undefined` if the run did not execute it. */
  readonly duration_ms: number | undefined;
}

/** Executes one node as described in docs/graphs.md. Resolves when its run has started. */
export async function startNodeRun({ assistant_id, node, command, thread_id }: NodeRunRequest) {
  const id = thread_id ?? newId();
  if (thread_id === undefined) {
    const metadata = { title: `${node} on its own`, [NODE_ALONE]: node };
    await dataOf(api.POST('/threads', { body: { thread_id: id, metadata } }));
  }
  const stream = { stream_mode: ['updates' as const], stream_subgraphs: node.includes(':') };
  return startRun(id, { ...stream, assistant_id, command, interrupt_after: [node] });
}

/** Follows such a run until it ends. */
export async function outcomeOf(
  run: Schemas['Run'],
  node: string,
  signal: AbortSignal,
): Promise<NodeRunOutcome> {
  const names = node.split(':');
  const name = names.at(-1) ?? node;
  const around = names.slice(0, -1).join(':');
  const writes: unknown[] = [];
  const asked: Asked[] = [];
  let error: string | undefined;
  for await (const { event, data } of runEvents(run, signal)) {
    const content: unknown = JSON.parse(data);
    if (!isObject(content)) continue;
    if (event === 'error') error = `${content['error']}: ${content['message']}`;
    const [mode, ...levels] = event.split('|');
    if (mode !== 'updates') continue;
    if (graphOf(levels) === around && name in content) writes.push(content[name]);
    if (levels.length > 0) continue;
    const { __interrupt__: interrupts } = content;
    if (Array.isArray(interrupts)) asked.push(...interrupts);
  }
  signal.throwIfAborted();
  const { steps } = await queryClient.fetchQuery({ ...stepsQuery(run.run_id), staleTime: 0 });
  const path = { thread_id: run.thread_id, run_id: run.run_id };
  const { status } = await dataOf(api.GET('/threads/{thread_id}/runs/{run_id}', { params: { path } }));
  const own = steps.filter(
    (step) => step.kind === 'node' && step.name === name && graphOf(step.namespace.split('|')) === around,
  );
  const times = own.map(({ started_at, ended_at }) => Date.parse(ended_at) - Date.parse(started_at));
  const duration_ms = times.length > 0 ? times.reduce((sum, each) => sum + each, 0) : undefined;
  return { writes, asked, error, status, duration_ms };
}

/** Id of the node whose graph a namespace belongs to: its names without task ids. */
const graphOf = (levels: readonly string[]) => levels.map((level) => level.replace(/:.*$/, '')).join(':');

/** The command that executes a node with a state update. */
export const fromState = (node: string, update: unknown) =>
  ({ ...(isObject(update) && { update }), goto: node }) as Schemas['Command'];

/** The command that starts a node with its own input, as `Send` does. */
export const withInput = (node: string, input: unknown): Schemas['Command'] => ({ goto: { node, input } });

/** The command that calls one tool of a node. */
export function callOf(node: string, tool: string, args: unknown): Schemas['Command'] {
  const call = { id: `call_${newId()}`, name: tool, args };
  return fromState(node, { messages: [{ role: 'assistant', content: '', tool_calls: [call] }] });
}

/** The tool's result within the return value of its node. */
export function toolAnswer(write: unknown): { text: string; failed: boolean } | undefined {
  const parts = [write].flat();
  const messages = parts.flatMap((part) => (isObject(part) ? [part['messages']].flat() : []));
  const answer = messages.find((message) => isObject(message) && message['type'] === 'tool');
  if (!isObject(answer)) return undefined;
  const { content, status } = answer;
  return {
    text: typeof content === 'string' ? content : JSON.stringify(content, null, 2),
    failed: status === 'error',
  };
}

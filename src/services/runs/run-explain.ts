import type { Actor } from '../../auth/actor.ts';
import { authorize } from '../../auth/authorize.ts';
import { type Clock, timestamp } from '../../core/clock.ts';
import { NotFound } from '../../core/errors.ts';
import { isServerInterrupt } from '../../core/interrupt-ids.ts';
import type { StepsNow } from '../../events/current-steps.ts';
import type { GraphHost, GraphRegistry, RunPlace } from '../../graphs/graph.ts';
import { executedBy, type RunExplanation } from '../../schemas/run-explanation.ts';
import type { Run } from '../../schemas/runs.ts';
import type { CurrentStep } from '../../schemas/steps.ts';
import type { Interrupt, Thread } from '../../schemas/threads.ts';
import type { QueuePosition, RetryReason, RunTimes } from '../../storage/queue/position.ts';
import type { RunQueue } from '../../storage/queue/queue.ts';
import type { RunRepository } from '../../storage/runs/runs.ts';
import type { ThreadRepository } from '../../storage/threads/threads.ts';

export interface ExplainDeps {
  readonly runs: RunRepository;
  readonly threads: ThreadRepository;
  readonly queue: RunQueue;
  readonly clock: Clock;
  readonly max_attempts: number;
  /** Id of this process. */
  readonly worker_id: string;
  readonly graphs: GraphRegistry;
  readonly stepsNow: StepsNow;
}

/** Steps named in the sentence. */
const MAX_NAMED = 3;

const RETRY_REASONS: Record<RetryReason, string> = {
  'worker lost': 'because its worker was lost',
  'host lost': 'because its graph host ended',
  'host left': 'because its graph host was blocked or replaced, which does not count as a failure',
  'attempt broke': 'because the outcome of the previous one could not be stored',
  'storage failed': 'because storage failed during the previous one',
  'server stopped': 'because the server stopped during the previous one, which does not count as a failure',
  'claim lost': 'because the response to its claim was lost',
  unreadable: 'because it was claimed by a server that lacks its encryption key',
  'clock behind':
    "because its server's clock was behind the thread's newest checkpoint, which does not count as a failure",
};

/** Explains the state of a queued run in a sentence. */
export async function queuedRunSummary(
  actor: Actor,
  { queue, clock, max_attempts, worker_id, graphs, stepsNow }: Omit<ExplainDeps, 'runs' | 'threads'>,
  run: Pick<Run, 'run_id' | 'thread_id'>,
  position: QueuePosition,
): Promise<string> {
  if (position.state === 'running') {
    const isHere = position.worker_id === worker_id;
    const now = await stepsNow(run);
    const since = now?.waits_for_storage_since;
    const seesServer = isUnrestricted(actor);
    const hosts = isHere ? hostSummary(graphs.placeOf(run.run_id), graphs.hosts(), seesServer) : '';
    const what = since === undefined ? hosts + stepSummary(now?.steps) : storageSummary(since);
    return runningSummary(position, max_attempts, seesServer) + what;
  }
  const again = position.retry_reason ? ` ${retrySummary(position, max_attempts)}` : '';
  if (position.not_before > timestamp(clock.now())) return `Waits until ${position.not_before}.${again}`;
  const [first] = position.behind;
  if (first) return `${waitingBehind(first, position.behind.length - 1)}${again}`;
  return `${await readySummary(queue, graphs, run.run_id)}${again}`;
}

/** Actors with access rules get no names of machines, processes and the runs of others. */
const isUnrestricted = ({ rules }: Actor): boolean => rules.length === 0;

export type RunExplainService = ReturnType<typeof runExplain>;

/** Explains a run's state as a sentence and as fields. */
export function runExplain(deps: ExplainDeps) {
  const { runs, queue, max_attempts } = deps;
  return {
    async explain(actor: Actor, thread_id: string | undefined, run_id: string): Promise<RunExplanation> {
      const visibility = await authorize(actor, 'threads:read', { thread_id, run_id });
      const run = await runs.get(thread_id, run_id, visibility);
      const [position, times] = await Promise.all([queue.position(run_id), queue.runTimes(run_id)]);
      if (!run || !times) throw new NotFound('Not Found');
      const { executor_id, ...spent } = times;
      const { worker_id, host = null, pid = null, lease_until = null } = position ?? {};
      return {
        run_id,
        thread_id: run.thread_id,
        status: run.status,
        summary: position
          ? await queuedRunSummary(actor, deps, run, position)
          : endedSummary(run, times, await waitsFor(deps, run)),
        behind: position?.behind ?? [],
        due_at: position && position.state !== 'running' ? position.not_before : null,
        priority: position?.priority ?? null,
        worker: worker_id && isUnrestricted(actor) ? { worker_id, host, pid, lease_until } : null,
        attempt: position?.attempt ?? null,
        max_attempts,
        retry_reason: position?.retry_reason ?? null,
        cancel_action: position?.cancel_action ?? null,
        ...spent,
        ...executedBy(executor_id),
      };
    },
  };
}

/** What the server asks, if it stopped the run to ask a person. */
async function waitsFor(
  { threads }: ExplainDeps,
  { run_id, thread_id, status }: Run,
): Promise<string | undefined> {
  if (status !== 'success') return undefined;
  return serverQuestion(run_id, await threads.get(thread_id, ['interrupts']));
}

function endedSummary({ status }: Run, { ended_at, error }: RunTimes, question: string | undefined): string {
  const waits = question === undefined ? '.' : `; its thread waits for an answer: ${question}`;
  const reason = error ? `: ${error.error}: ${error.message}` : waits;
  return `Ended${ended_at ? ` at ${ended_at}` : ''} with status ${status}${reason}`;
}

function runningSummary(position: QueuePosition, max_attempts: number, seesServer: boolean): string {
  const { attempt, worker_id, host, pid, lease_until, cancel_action, retry_reason } = position;
  const worker = seesServer ? `worker ${worker_id}` : 'a worker';
  const where = seesServer ? ` (process ${pid} on ${host})` : '';
  const who = worker + (host ? where : ', which is dead');
  const until = lease_until ? `, whose lease ends at ${lease_until} unless it is renewed` : '';
  const why = retry_reason ? ` ${RETRY_REASONS[retry_reason]}` : '';
  const stopping = cancel_action
    ? ` It was cancelled (${cancel_action}) and its worker has not released it yet.`
    : '';
  const failed = failureCount(position, max_attempts);
  return `Attempt ${attempt}${why}${failed}; executed by ${who}${until}.${stopping}`;
}

function storageSummary(since: number): string {
  return ` Its code has ended; what it did is in the memory of its worker, which has tried to store it since ${timestamp(since)}.`;
}

/** Names the graph host that executes the run, or why it waits for one; empty without hosts. */
function hostSummary(
  { host, waitsForOwnHost }: RunPlace,
  hosts: readonly GraphHost[],
  seesServer: boolean,
): string {
  const blockage = (each: Omit<GraphHost, 'restarts'>) => blockedSummary(each, seesServer);
  if (host) {
    const process = `graph host ${host.number}${seesServer ? ` (process ${host.pid})` : ''}`;
    return host.blocked_ms === 0 ? ` Executes in ${process}.` : ` Is in ${process}: ${blockage(host)}.`;
  }
  if (waitsForOwnHost)
    return ' Waits for a graph host of its own, because it lost two: such runs execute one after the other.';
  if (hosts.length === 0) return '';
  const ready = hosts.filter((host) => host.ready);
  if (ready.length === 0) return ' Waits for a graph host: none has loaded the project yet.';
  const blocked = ready.filter((host) => host.blocked_ms > 0);
  if (blocked.length < ready.length) return ' Waits for a graph host.';
  return ` Waits for a graph host: all ${ready.length} are computing; ${blocked.map(blockage).join('; ')}.`;
}

/** The executing nodes and their calls; empty if unknown. */
function stepSummary(steps: readonly CurrentStep[] = []): string {
  const running = steps.filter(({ status }) => status === 'running');
  const innermost = running.filter(({ number }) => !running.some(({ parent }) => parent === number));
  if (innermost.length === 0) return '';
  const named = innermost.slice(0, MAX_NAMED).map(({ kind, name, node, started_at }) => {
    const where = kind === 'node' ? '' : ` of node \`${node}\``;
    return `${kind} \`${name}\`${where} since ${timestamp(started_at)}`;
  });
  const more = innermost.length > MAX_NAMED ? ` and ${innermost.length - MAX_NAMED} more` : '';
  return ` Now: ${named.join(', ')}${more}.`;
}

function blockedSummary(
  { number, blocked_ms, blockedBy: { node, run_id } = {} }: Omit<GraphHost, 'restarts'>,
  seesServer: boolean,
): string {
  const where = node === undefined || !seesServer ? '' : ` in node \`${node}\` of run ${run_id}`;
  return `the event loop of host ${number} has been blocked for ${Math.round(blocked_ms / 1000)} s${where}`;
}

function retrySummary(position: QueuePosition, max_attempts: number): string {
  const { attempt, retry_reason } = position;
  const why = retry_reason ? `, ${RETRY_REASONS[retry_reason]}` : '';
  return `Its next attempt is ${attempt + 1}${why}${failureCount(position, max_attempts)}.`;
}

/** Excludes attempts that completed a superstep, and attempts that the server itself requeued. */
function failureCount({ failures }: QueuePosition, max_attempts: number): string {
  return failures > 0 ? ` (failure ${failures} of at most ${max_attempts} in a row)` : '';
}

function waitingBehind(first: string, more: number): string {
  const others = more === 0 ? '' : ` and ${more} more`;
  return `Waits behind run ${first}${others} of the same thread.`;
}

async function readySummary(queue: RunQueue, graphs: GraphRegistry, run_id: string): Promise<string> {
  const share = await queue.ownerShare(run_id);
  if (share && share.running >= share.limit)
    return `Ready, but its owner has ${share.running} of at most ${share.limit} runs that execute (runs.max_per_owner).`;
  const { workers, slots, running: busy } = await queue.workerCapacity();
  if (slots === 0 && graphs.loads() === 0) return 'Ready, but no graph host has loaded the project yet.';
  if (slots === 0) return 'Ready, but no worker is running: start a server with runs.concurrency above 0.';
  if (busy >= slots)
    return `Ready, waits for a free slot: ${workers} worker(s) execute ${busy} of ${Math.max(busy, slots)} runs.`;
  return 'Ready; the next worker that polls claims it.';
}

/** What the server asks where it stopped the run, if nothing has run since. */
function serverQuestion(
  run_id: string,
  { interrupts = {} }: Pick<Thread, 'interrupts'> = {},
): string | undefined {
  const isOfRun = ({ id }: Interrupt) => isServerInterrupt(id) && String(id).endsWith(`:${run_id}`);
  const asked = Object.values(interrupts).flat().find(isOfRun);
  return asked && String((asked.value as { message?: unknown }).message);
}

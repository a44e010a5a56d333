import { AgentCard, type Artifact, type StreamResponse, type Task } from '@a2a-js/sdk';
import {
  A2AError,
  ExtendedAgentCardNotConfiguredError,
  RequestMalformedError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from '@a2a-js/sdk/errors';
import type { A2ARequestHandler } from '@a2a-js/sdk/server';
import type { Actor } from '../../../auth/actor.ts';
import { ServerError } from '../../../core/errors.ts';
import { yieldToEventLoop } from '../../../core/event-loop.ts';
import { toJson } from '../../../core/json.ts';
import type { Logger } from '../../../core/logger.ts';
import { boundedInt, MAX_INTEGER } from '../../../schemas/numbers.ts';
import { MAX_LIST_BYTES } from '../../../storage/search/list-bytes.ts';
import type { CardData } from '../card-data.ts';
import { isAccepted, mediaTypeOf } from '../parts.ts';
import type { A2aService } from '../service.ts';
import { stateNameOf } from '../state-names.ts';
import type { A2aTaskRow } from '../storage/tasks.ts';
import type { TaskEvent } from '../stream.ts';
import { isTerminal, stateOf } from '../task-view.ts';
import { type HistoryScope, isInContext } from '../tasks.ts';

/** One client request. */
export interface A2aCall {
  readonly actor: Actor;
  readonly cardData: CardData;
  readonly version: '0.3' | '1.0';
  readonly scope: HistoryScope;
  readonly last_event_id: string | undefined;
  /** Context that the requested task must belong to. */
  readonly context_id: string | undefined;
  readonly signal: AbortSignal;
  /** Undefined without authentication. */
  readonly extendedCard: (() => Promise<object>) | undefined;
  readonly card: () => object;
  /** Resolved when a stream begins without its first event. */
  readonly opened: PromiseWithResolvers<void>;
  /** Resume position of the last event yielded, for `id:`. */
  event_id: string | undefined;
  /** Failure reported by HTTP status instead of the protocol: `REPORTED_BY_HTTP`. */
  refusal: ServerError | undefined;
}

export interface RequestHandlerDeps {
  readonly a2a: A2aService;
  readonly logger: Logger;
}

/** Maps the protocol's operations to the services, for one request. */
export function requestHandler({ a2a, logger }: RequestHandlerDeps, call: A2aCall): A2ARequestHandler {
  const { actor, signal, scope } = call;
  const { assistant_id } = call.cardData.assistant;
  const options = { scope, answer_in_status: call.version === '0.3' };
  const publicErrors = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      throw publicError(error, call, logger);
    });

  async function* events(
    open: () => AsyncIterable<TaskEvent>,
    trim: Trim,
  ): AsyncGenerator<StreamResponse, void> {
    try {
      for await (const { id, response } of open()) {
        call.event_id = id;
        yield* trimmedEvent(response, trim);
      }
    } catch (error) {
      throw publicError(error, call, logger);
    }
  }

  return {
    getAgentCard: async () => AgentCard.fromJSON(call.card()),

    async getAuthenticatedExtendedAgentCard() {
      if (call.extendedCard) return AgentCard.fromJSON(await call.extendedCard());
      const text = 'This agent has no extended card, because the server requires no authentication.';
      throw call.version === '0.3'
        ? new ExtendedAgentCardNotConfiguredError(text)
        : new UnsupportedOperationError(text);
    },

    async sendMessage(request) {
      const trim = trimOf(request.configuration);
      const answer = await publicErrors(a2a.send(actor, assistant_id, request, { scope, signal }));
      return 'messageId' in answer ? answer : trimmed(answer, trim);
    },

    async *sendMessageStream(request) {
      const trim = trimOf(request.configuration);
      const row = await publicErrors(a2a.start(actor, assistant_id, request));
      yield* events(() => a2a.sent(actor, row, options, signal), trim);
    },

    async getTask({ id, historyLength }) {
      const row = await publicErrors(a2a.find(actor, assistant_id, id));
      checkContext(call, row);
      return trimmed(await publicErrors(a2a.view(actor, row, scope)), trimOf({ historyLength }));
    },

    async listTasks(request) {
      const trim = trimOf(request);
      const page = await publicErrors(a2a.list(actor, assistant_id, request));
      const { nextPageToken, pageSize, totalSize } = page;
      const tasks = await boundedTasks(page.rows, async (row) => {
        const task = trimmed(await publicErrors(a2a.view(actor, row, scope)), trim);
        return request.includeArtifacts ? task : { ...task, artifacts: [] };
      });
      return { tasks, nextPageToken, pageSize, totalSize };
    },

    async cancelTask({ id }) {
      const row = await publicErrors(a2a.cancel(actor, assistant_id, id, signal));
      return publicErrors(a2a.view(actor, row, scope));
    },

    async *resubscribe({ id }) {
      const row = await publicErrors(a2a.find(actor, assistant_id, id));
      const { last_event_id } = call;
      if (isTerminal(stateOf(row)) && last_event_id === undefined) {
        const state = stateNameOf(row);
        throw new UnsupportedOperationError(`Task ${id} has ended (${state}): there are no further events.`);
      }
      // The task may stay silent, and the client waits for the headers.
      if (last_event_id !== undefined) call.opened.resolve();
      yield* events(() => a2a.subscribed(actor, row, last_event_id, options, signal), trimOf({}));
    },

    createTaskPushNotificationConfig: (config) =>
      publicErrors(a2a.push.create(actor, assistant_id, config, call.version)),
    getTaskPushNotificationConfig: (wanted) => publicErrors(a2a.push.get(actor, assistant_id, wanted)),
    async listTaskPushNotificationConfigs({ taskId }) {
      return { configs: await publicErrors(a2a.push.list(actor, assistant_id, taskId)), nextPageToken: '' };
    },
    deleteTaskPushNotificationConfig: (wanted) => publicErrors(a2a.push.delete(actor, assistant_id, wanted)),
  };
}

/** Tasks whose states are in memory at a time. */
const TASKS_READ = 10;

/** Throws `RequestMalformedError` if several tasks are too large for one reply. */
async function boundedTasks(
  rows: readonly A2aTaskRow[],
  view: (row: A2aTaskRow) => Promise<Task>,
): Promise<Task[]> {
  const tasks: Task[] = [];
  let bytes = 0;
  for (let at = 0; at < rows.length; at += TASKS_READ) {
    const read = await Promise.all(rows.slice(at, at + TASKS_READ).map(view));
    tasks.push(...read);
    for (const task of read) {
      await yieldToEventLoop();
      bytes += Buffer.byteLength(toJson(task));
    }
    if (tasks.length === 1 || bytes <= MAX_LIST_BYTES) continue;
    throw new RequestMalformedError(
      `pageSize: ${tasks.length} of these tasks have ${bytes} bytes, more than the ${MAX_LIST_BYTES} that a reply may have. Lower pageSize or historyLength.`,
    );
  }
  return tasks;
}

function checkContext({ actor, context_id }: A2aCall, row: A2aTaskRow): void {
  if (context_id === undefined || isInContext(actor, row, context_id)) return;
  throw new TaskNotFoundError(`Task ${row.task_id} does not belong to context ${context_id}.`);
}

interface Trim {
  readonly historyLength: number | undefined;
  readonly modes: readonly string[];
}

const HistoryLength = boundedInt({ min: 0, max: MAX_INTEGER }).optional();

function trimOf({
  historyLength,
  acceptedOutputModes = [],
}: {
  historyLength?: number | undefined;
  acceptedOutputModes?: string[];
} = {}): Trim {
  const { error } = HistoryLength.safeParse(historyLength);
  if (error) {
    throw new RequestMalformedError(`historyLength ${error.issues[0]?.message}.`);
  }
  return { historyLength, modes: acceptedOutputModes };
}

/** Applies the client's `historyLength` and accepted output modes to the task. */
function trimmed(task: Task, { historyLength, modes }: Trim): Task {
  const history =
    historyLength === undefined
      ? task.history
      : historyLength === 0
        ? []
        : task.history.slice(-historyLength);
  const artifacts = task.artifacts.flatMap((artifact) => acceptedParts(artifact, modes));
  return { ...task, history, artifacts };
}

/** Returns no event if no part of the artifact is acceptable. */
function trimmedEvent({ payload }: StreamResponse, trim: Trim): StreamResponse[] {
  if (payload?.$case === 'task') return [{ payload: { ...payload, value: trimmed(payload.value, trim) } }];
  if (payload?.$case !== 'artifactUpdate' || !payload.value.artifact) return [{ payload }];
  const { value } = payload;
  const artifacts = acceptedParts(payload.value.artifact, trim.modes);
  return artifacts.map((artifact) => ({ payload: { ...payload, value: { ...value, artifact } } }));
}

/** Drops parts that the client does not accept; an artifact with no part left is omitted. */
function acceptedParts(artifact: Artifact, modes: readonly string[]): Artifact[] {
  if (modes.length === 0) return [artifact];
  const parts = artifact.parts.filter((part) => isAccepted(mediaTypeOf(part), modes));
  return parts.length > 0 ? [{ ...artifact, parts }] : [];
}

/** Failures reported by HTTP status rather than by the protocol: authorization, and retries. */
const REPORTED_BY_HTTP: readonly number[] = [401, 403, 429, 503];

/** Maps a failure to a protocol error that is safe to expose to the client. */
function publicError(error: unknown, call: A2aCall, logger: Logger): Error {
  if (error instanceof A2AError) return error;
  if (error instanceof ServerError) {
    if (REPORTED_BY_HTTP.includes(error.status)) call.refusal = error;
    if (error.status === 409) return new UnsupportedOperationError(error.message);
    if (error.status < 500) return new RequestMalformedError(error.message);
    return new Error(error.message);
  }
  logger.error('request failed', { request_id: call.actor.request_id, error });
  return new Error('Internal Server Error');
}

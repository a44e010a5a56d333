import type { Message, SendMessageRequest, Task } from '@a2a-js/sdk';
import type { Actor } from '../../auth/actor.ts';
import type { Ids } from '../../core/ids.ts';
import type { A2aTaskRow } from '../../storage/a2a/tasks.ts';
import type { AssistantService } from '../assistants/assistants.ts';
import { cardDataReader } from './card-data.ts';
import { type A2aPushDeps, pushConfigs } from './push-configs.ts';
import { type A2aSendDeps, a2aSend } from './send.ts';
import { type A2aStreamDeps, a2aStream } from './stream.ts';
import type { A2aTaskDeps } from './task-states.ts';
import { a2aTasks, type HistoryScope } from './tasks.ts';

export interface A2aDeps
  extends Omit<A2aTaskDeps, 'cardDataOf' | 'bus' | 'runs'>,
    Omit<A2aSendDeps, 'cardDataOf' | 'runs' | 'bus' | 'ids' | 'checkedPush'>,
    Omit<A2aStreamDeps, 'runs' | 'bus'>,
    A2aPushDeps {
  readonly bus: A2aTaskDeps['bus'] & A2aSendDeps['bus'] & A2aStreamDeps['bus'];
  readonly ids: Ids;
  readonly runs: A2aTaskDeps['runs'] & A2aSendDeps['runs'];
  readonly assistants: AssistantService;
}

export type A2aService = ReturnType<typeof a2aService>;

/** Assistants as A2A agents; each turn of a task is a run. */
export function a2aService(deps: A2aDeps) {
  const cardDataOf = cardDataReader(deps);
  const taskService = a2aTasks({ ...deps, cardDataOf });
  const stream = a2aStream(deps, taskService);
  const push = pushConfigs(deps, taskService);
  const { start } = a2aSend({ ...deps, cardDataOf, checkedPush: push.checked }, taskService);
  return {
    ...stream,
    find: taskService.find,
    finalize: taskService.finalize,
    view: taskService.view,
    list: taskService.list,
    cancel: taskService.cancel,
    start,
    cardDataOf,
    push,
    /** Whether clients can register push notifications. */
    sends_push: deps.sends_webhooks,

    /** Sends a message and waits until its task is terminal or interrupted. */
    async send(
      actor: Actor,
      assistant_id: string,
      request: SendMessageRequest,
      { scope, signal }: { scope: HistoryScope; signal: AbortSignal },
    ): Promise<Task | Message> {
      const row = await start(actor, assistant_id, request);
      if (request.configuration?.returnImmediately) return taskService.view(actor, row, scope);
      const finalRow: A2aTaskRow = await stream.untilTerminalOrInterrupted(actor, row, signal);
      return taskService.answer(actor, finalRow, scope);
    },

    /** Returns the id of the caller's only visible assistant; `undefined` if there are none or several. */
    async onlyAssistant(actor: Actor): Promise<string | undefined> {
      const [first, ...others] = await deps.assistants.listAll(actor);
      return others.length === 0 ? first?.assistant_id : undefined;
    },
  };
}

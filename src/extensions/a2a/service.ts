import type { Message, SendMessageRequest, Task } from '@a2a-js/sdk';
import type { Actor } from '../../auth/actor.ts';
import { cardDataReader } from './card-data.ts';
import type { A2aContext } from './context.ts';
import { pushConfigs } from './push-configs.ts';
import { a2aSend } from './send.ts';
import type { A2aTaskRow } from './storage/tasks.ts';
import { a2aStream } from './stream.ts';
import { a2aTasks, type HistoryScope } from './tasks.ts';

export type A2aService = ReturnType<typeof a2aService>;

/** Assistants as A2A agents; each turn of a task is a run. */
export function a2aService(parts: Omit<A2aContext, 'cardDataOf'>) {
  const { assistants } = parts.services;
  const cardDataOf = cardDataReader(assistants);
  const context = { ...parts, cardDataOf };
  const taskService = a2aTasks(context);
  const stream = a2aStream(context, taskService);
  const push = pushConfigs(context, taskService);
  const { start } = a2aSend(context, taskService, push.checked);
  return {
    ...stream,
    ...taskService,
    start,
    cardDataOf,
    push,
    /** Whether clients can register push notifications. */
    sends_push: parts.sends_webhooks,

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
      const [first, ...others] = await assistants.listAll(actor);
      return others.length === 0 ? first?.assistant_id : undefined;
    },
  };
}

import type {
  Artifact,
  Message,
  MessageSendParams,
  Task,
  TaskArtifactUpdateEvent,
  TaskStatusUpdateEvent,
} from 'a2a-sdk-0.3';
import { ClientFactory } from 'a2a-sdk-0.3/client';
import { type A2aClient, messageId, type Saying, type ToldEvent, type ToldTask } from './told.ts';

type Event = Message | Task | TaskStatusUpdateEvent | TaskArtifactUpdateEvent;

/** `@a2a-js/sdk` 0.3.x, which knows nothing of later versions. */
export async function connect03(agent: string): Promise<A2aClient> {
  const client = await new ClientFactory().createFromUrl(agent);
  return {
    send: async (saying) => taskIn(await client.sendMessage(paramsOf(saying))),
    stream: (saying) => eventsIn(client.sendMessageStream(paramsOf(saying))),
    get: async (id) => taskIn(await client.getTask({ id })),
    cancel: async (id) => taskIn(await client.cancelTask({ id })),
    subscribe: (id) => eventsIn(client.resubscribeTask({ id })),
    list: async () => undefined,
  };
}

function paramsOf({ text, data, configurable, task_id, context_id, at_once }: Saying): MessageSendParams {
  return {
    message: {
      kind: 'message',
      messageId: messageId(),
      role: 'user',
      parts: [
        ...(text === undefined ? [] : [{ kind: 'text' as const, text }]),
        ...(data === undefined ? [] : [{ kind: 'data' as const, data: { ...data } }]),
      ],
      ...(configurable && { metadata: { configurable } }),
      ...(task_id !== undefined && { taskId: task_id }),
      ...(context_id !== undefined && { contextId: context_id }),
    },
    configuration: { blocking: at_once !== true },
  };
}

function taskIn(answer: Task | Message): ToldTask {
  if (answer.kind !== 'task') throw new Error('a message, not a task');
  const { id, contextId, status, artifacts = [] } = answer;
  const { state, message } = status;
  return { id, context_id: contextId, state, said: textIn(message), artifacts: artifacts.map(textIn) };
}

async function* eventsIn(events: AsyncIterable<Event>): AsyncGenerator<ToldEvent> {
  for await (const event of events) {
    if (event.kind === 'task') yield { kind: 'task', task: taskIn(event) };
    if (event.kind === 'status-update') {
      const { state, message } = event.status;
      yield { kind: 'status', state, said: textIn(message) };
    }
    if (event.kind === 'artifact-update') {
      yield { kind: 'artifact', text: textIn(event.artifact), append: event.append === true };
    }
  }
}

function textIn(of: Artifact | Message | undefined): string {
  return (of?.parts ?? []).map((part) => (part.kind === 'text' ? part.text : '')).join('');
}

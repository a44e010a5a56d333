import {
  type Artifact,
  type Message,
  Part,
  SendMessageRequest,
  type StreamResponse,
  type Task,
  taskStateToJSON,
} from '@a2a-js/sdk';
import { type Client, ClientFactory, ClientFactoryOptions } from '@a2a-js/sdk/client';
import { type A2aClient, messageId, type Saying, stateName, type ToldEvent, type ToldTask } from './told.ts';

/** `@a2a-js/sdk` 1.x over a binding of 1.0. */
export async function connect10(agent: string, binding: 'JSONRPC' | 'HTTP+JSON'): Promise<A2aClient> {
  const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
    preferredTransports: [binding],
  });
  const client = await new ClientFactory(options).createFromUrl(agent);
  return told(client);
}

function told(client: Client): A2aClient {
  const tenant = '';
  return {
    send: async (saying) => taskIn(await client.sendMessage(requestOf(saying))),
    stream: (saying) => eventsIn(client.sendMessageStream(requestOf(saying))),
    get: async (id) => taskIn(await client.getTask({ tenant, id })),
    cancel: async (id) => taskIn(await client.cancelTask({ tenant, id, metadata: undefined })),
    subscribe: (id) => eventsIn(client.resubscribeTask({ tenant, id })),
    async list(contextId) {
      const rest = { status: 0, pageToken: '', statusTimestampAfter: undefined, includeArtifacts: false };
      const { tasks } = await client.listTasks({ tenant, contextId, ...rest });
      return tasks.map(({ id }) => id);
    },
  };
}

function requestOf({ text, data, configurable, task_id, context_id, at_once }: Saying): SendMessageRequest {
  return SendMessageRequest.fromJSON({
    message: {
      messageId: messageId(),
      role: 'ROLE_USER',
      parts: [...(text === undefined ? [] : [{ text }]), ...(data === undefined ? [] : [{ data }])],
      ...(configurable && { metadata: { configurable } }),
      taskId: task_id,
      contextId: context_id,
    },
    configuration: { returnImmediately: at_once === true },
  });
}

function taskIn(answer: Task | Message): ToldTask {
  if (!('artifacts' in answer)) throw new Error('a message, not a task');
  const { id, contextId, status, artifacts } = answer;
  const state = stateName(taskStateToJSON(status?.state ?? 0));
  return {
    id,
    context_id: contextId,
    state,
    said: textIn(status?.message),
    artifacts: artifacts.map(textIn),
  };
}

async function* eventsIn(events: AsyncIterable<StreamResponse>): AsyncGenerator<ToldEvent> {
  for await (const { payload } of events) {
    if (payload?.$case === 'task') yield { kind: 'task', task: taskIn(payload.value) };
    if (payload?.$case === 'statusUpdate') {
      const { status } = payload.value;
      const state = stateName(taskStateToJSON(status?.state ?? 0));
      yield { kind: 'status', state, said: textIn(status?.message) };
    }
    if (payload?.$case === 'artifactUpdate') {
      const { artifact, append } = payload.value;
      yield { kind: 'artifact', text: textIn(artifact), append };
    }
  }
}

function textIn(of: Artifact | Message | undefined): string {
  const texts = (of?.parts ?? []).map((part) => (Part.toJSON(part) as { text?: string }).text ?? '');
  return texts.join('');
}

import { type Message, Part, SendMessageRequest, type Task, TaskState } from '@a2a-js/sdk';
import { ClientFactory } from '@a2a-js/sdk/client';

/** What another agent answers. */
export interface Reply {
  readonly task_id: string;
  readonly text: string;
  /** It waits for an answer to this text. */
  readonly isQuestion: boolean;
}

/**
 * Says something to another agent, and waits until its task has ended or asks. `task_id`: the task whose question this
 * answers. `onProgress` hears what the agent says on its way.
 */
export async function tell(
  agent: string,
  { text, message_id, task_id }: { text: string; message_id: string; task_id?: string | undefined },
  onProgress: (text: string) => void,
): Promise<Reply> {
  const client = await new ClientFactory().createFromUrl(`${process.env['AGENTS_URL']}/${agent}/`);
  const message = { messageId: message_id, role: 'ROLE_USER', parts: [{ text }], taskId: task_id };
  let id = '';
  for await (const { payload } of client.sendMessageStream(SendMessageRequest.fromJSON({ message }))) {
    if (payload?.$case === 'task') id = payload.value.id;
    if (payload?.$case !== 'statusUpdate') continue;
    const { status } = payload.value;
    if (status?.state === TaskState.TASK_STATE_WORKING && status.message) onProgress(textOf(status.message));
  }
  return replyIn(await client.getTask({ tenant: '', id }));
}

function replyIn({ id, status, artifacts }: Task): Reply {
  const said = status?.message ? textOf(status.message) : '';
  if (status?.state === TaskState.TASK_STATE_COMPLETED) {
    return { task_id: id, text: artifacts.map(textOf).join('\n'), isQuestion: false };
  }
  return { task_id: id, text: said, isQuestion: status?.state === TaskState.TASK_STATE_INPUT_REQUIRED };
}

function textOf({ parts }: Pick<Message, 'parts'>): string {
  return parts.map((part) => (Part.toJSON(part) as { text?: string }).text ?? '').join('');
}

import { createContext } from 'react';
import { useSession } from '../../api/session.ts';
import { isObject, type JsonObject } from '../../api/values.ts';
import type { StreamState } from '../../component-frame/protocol.ts';
import { messagesOf } from './messages.ts';
import type { Chat } from './use-chat.ts';

/** What components know of their thread, and what they may do there. Actions return why they were refused. */
export interface ComponentThread {
  readonly state: StreamState;
  readonly submit: (values: unknown, command: unknown) => string | undefined;
  readonly stop: () => string | undefined;
}

/** Apart from the properties of messages, which are not drawn anew when it changes. */
export const ThreadOfComponents = createContext<ComponentThread | undefined>(undefined);

const MAY_NOT = 'Your key may not start or stop runs.';

/** A component may do what the person may do here: start a run of this assistant in this thread, and stop it. */
export function useComponentThread(chat: Chat, assistantId: string, threadId: string): ComponentThread {
  const { can } = useSession();
  const { values, messages, error, create, start } = chat;
  return {
    state: {
      values: isObject(values) ? values : {},
      messages,
      isLoading: chat.is_busy,
      error,
      interrupts: chat.state.data?.interrupts ?? [],
      assistantId,
      threadId,
    },
    submit(input, command) {
      if (!can('run')) return MAY_NOT;
      if (create.isPending) return 'Another run is just being started.';
      const given = isObject(command) ? { command: commandOf(command) } : { input };
      start({ ...given, messages: [...messages, ...messagesOf(input)] });
      return undefined;
    },
    stop() {
      if (!can('run')) return MAY_NOT;
      chat.stop();
      return undefined;
    },
  };
}

/** The server checks its values. */
function commandOf({
  resume,
  update,
  goto,
}: JsonObject): NonNullable<Parameters<Chat['start']>[0]['command']> {
  return {
    ...(resume !== undefined && { resume }),
    ...(update !== undefined && { update: update as JsonObject }),
    ...(goto !== undefined && { goto: goto as string }),
  };
}

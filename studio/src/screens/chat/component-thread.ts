import { createContext } from 'react';
import { useSession } from '../../api/session.ts';
import { isObject, type JsonObject } from '../../api/values.ts';
import type { StreamState } from '../../component-frame/protocol.ts';
import { messagesOf } from './messages.ts';
import type { Chat } from './use-chat.ts';

/** The thread as components see it, and their actions. An action returns the reason if it is rejected. */
export interface ComponentThread {
  readonly state: StreamState;
  readonly submit: (values: unknown, command: unknown) => string | undefined;
  readonly stop: () => string | undefined;
}

/** Separate from the props of messages, so that a change does not rerender them. */
export const ThreadOfComponents = createContext<ComponentThread | undefined>(undefined);

const MAY_NOT = 'Your key cannot start or stop runs.';

/** A component may do what the user may do here: start a run of this assistant on this thread, and stop it. */
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
      if (create.isPending) return 'Another run is starting. Try again in a moment.';
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

/** The server validates its values. */
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

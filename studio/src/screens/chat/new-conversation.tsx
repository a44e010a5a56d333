import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { assistantName, type ListedAssistant } from '../../api/assistants.ts';
import { useSession } from '../../api/session.ts';
import { isObject } from '../../api/values.ts';
import { Page } from '../../ui/page.tsx';
import { BesideGraph, GraphToggle } from './beside.tsx';
import { BreakpointsButton } from './breakpoints-button.tsx';
import { ChatInput } from './chat-input.tsx';
import { BesideConversations } from './conversations.tsx';
import { textOf } from './messages.ts';
import { RecentThreads } from './recent-threads.tsx';
import { StreamingSwitch, settingsOf, useIsStreamed } from './streaming.tsx';
import { useNewThread } from './use-chat.ts';
import { nextThreadId, threadBegan } from './written.ts';

/** Maximum length of a thread title, characters. */
const MAX_TITLE = 80;

/** A new conversation: its first message creates a thread. Lists recent ones below. */
export function NewConversation({ assistant, schema }: { assistant: ListedAssistant; schema: unknown }) {
  const { assistant_id } = assistant;
  const { can } = useSession();
  const navigate = useNavigate();
  const [threadId] = useState(() => nextThreadId(assistant_id));
  const isStreamed = useIsStreamed();
  const begin = useNewThread({ assistant_id, thread_id: threadId, isStreamed }, () =>
    threadBegan(assistant_id),
  );
  // An option of the call: a late response must not navigate a reader who has left the screen.
  const open = {
    onSuccess: () =>
      void navigate({
        to: '/chat/$assistantId/$threadId',
        params: { assistantId: assistant_id, threadId },
        search: settingsOf,
      }),
  };
  return (
    <Page
      title={assistantName(assistant)}
      actions={
        <>
          {can('run') && <StreamingSwitch />}
          <GraphToggle />
          {can('run') && <BreakpointsButton assistant_id={assistant_id} />}
        </>
      }
    >
      <BesideConversations assistant_id={assistant_id}>
        <BesideGraph assistant_id={assistant_id} run_id={undefined}>
          <div className="min-h-0 flex-1 overflow-auto">
            {assistant.description && <p className="pb-4 break-words text-ink-2">{assistant.description}</p>}
            <div className="lg:hidden">
              <RecentThreads assistant_id={assistant_id} />
            </div>
          </div>
          {begin.error && (
            <p role="alert" className="text-err">
              {begin.error.message}
            </p>
          )}
          {!can('run') ? (
            <p className="text-ink-2">Your key can read conversations but not start one.</p>
          ) : (
            <ChatInput
              {...{ assistant_id, schema }}
              place={threadId}
              name={assistantName(assistant)}
              said={[]}
              isDisabled={begin.isPending}
              onStop={undefined}
              onMessage={(message, onRefused) =>
                begin.mutate(
                  { input: { messages: [message] }, title: titleOf(textOf(message)), onRefused },
                  open,
                )
              }
              onInput={(input) => begin.mutate({ input, title: titleOf(textIn(input)) }, open)}
            />
          )}
        </BesideGraph>
      </BesideConversations>
    </Page>
  );
}

function titleOf(text: string): string {
  const line = text.trim().split('\n')[0] ?? '';
  if (line === '') return 'Untitled';
  return line.length <= MAX_TITLE ? line : `${line.slice(0, MAX_TITLE - 1)}…`;
}

/** The first text of an input makes the best title. */
function textIn(input: unknown): string {
  const texts = isObject(input) ? Object.values(input).filter((value) => typeof value === 'string') : [];
  return texts[0] ?? JSON.stringify(input) ?? '';
}

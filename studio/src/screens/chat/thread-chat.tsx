import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { assistantName, type ListedAssistant } from '../../api/assistants.ts';
import { useSession } from '../../api/session.ts';
import { buttonClass } from '../../ui/button.tsx';
import { MoreActions } from '../../ui/more-actions.tsx';
import { Page } from '../../ui/page.tsx';
import { Pill, StatusPill } from '../../ui/pill.tsx';
import { Failure, Loading } from '../../ui/states.tsx';
import { withText } from './attachments.ts';
import { BesideGraph, GraphToggle } from './beside.tsx';
import { BreakpointsButton } from './breakpoints-button.tsx';
import { ChatInput } from './chat-input.tsx';
import { ThreadOfComponents, useComponentThread } from './component-thread.ts';
import { Conversation } from './conversation.tsx';
import { BesideConversations } from './conversations.tsx';
import { DetailToggle } from './detail.tsx';
import { humanMessage, type Message, propertyNames, textOf } from './messages.ts';
import { Problems, Questions } from './questions.tsx';
import { StreamingSwitch, settingsOf, useIsStreamed } from './streaming.tsx';
import { type Chat, useChat } from './use-chat.ts';

interface ThreadChatProps {
  readonly assistant: ListedAssistant;
  readonly thread_id: string;
  readonly schema: unknown;
}

/** The chat of a thread. Use the thread id as `key`. */
export function ThreadChat({ assistant, thread_id, schema }: ThreadChatProps) {
  const { at } = useSearch({ strict: false }) as { at?: string };
  const navigate = useNavigate();
  const toNewest = () => void navigate({ to: '.', search: newest, replace: true });
  const isStreamed = useIsStreamed();
  const { assistant_id } = assistant;
  const chat = useChat({ assistant_id, thread_id, at, isStreamed, onRun: toNewest });
  const componentThread = useComponentThread(chat, assistant_id, thread_id);
  const { can } = useSession();
  const { error, data, refetch } = chat.state;
  const name = assistantName(assistant);
  if (error && !chat.is_busy) {
    return (
      <Page title={name}>
        <Failure error={error} retry={() => void refetch()} />
      </Page>
    );
  }
  if (!data && !chat.is_busy) return <Loading what="the conversation" />;
  const mayChange = can('run') && !chat.is_busy;
  const props = { chat, thread_id, assistant_id };
  const hasMessages = propertyNames(schema).includes('messages');
  return (
    <Page title={name} beside={<State chat={chat} />} actions={<Links {...props} at={at} />}>
      <BesideConversations assistant_id={assistant_id}>
        <BesideGraph assistant_id={assistant_id} run_id={(chat.active ?? chat.last_run)?.run_id}>
          <ThreadOfComponents value={componentThread}>
            <Conversation
              {...props}
              hasMessages={hasMessages || chat.messages.length > 0}
              onEdit={mayChange ? (...edited) => edit(chat, ...edited) : undefined}
              onRegenerate={mayChange ? (message) => regenerate(chat, message) : undefined}
            >
              {/* Hidden instead of absent during a run, so that the other questions keep what was typed. */}
              <div
                hidden={chat.is_busy}
                className="sticky bottom-0 z-10 flex max-h-[45vh] flex-col gap-2 overflow-auto empty:hidden"
              >
                <Questions {...props} at={at} onAnswered={toNewest} />
              </div>
              <Problems chat={chat} />
            </Conversation>
          </ThreadOfComponents>
          {can('run') && <Input {...{ chat, name, schema }} assistant_id={assistant_id} place={thread_id} />}
        </BesideGraph>
      </BesideConversations>
    </Page>
  );
}

/** The latest version, keeping the other search parameters. */
const newest = ({ at: _, ...others }: { at?: string }) => others;

function edit(chat: Chat, message: Message, text: string, onSent: () => void): void {
  const edited = humanMessage(withText(message, text));
  const instead_of = chat.messages.indexOf(message);
  const messages = [...chat.messages.slice(0, instead_of), edited];
  chat.start({ input: { messages: [edited] }, messages, instead_of }, onSent);
}

/** The answer starts after the last human message. */
function regenerate(chat: Chat, message: Message): void {
  const end = chat.messages.indexOf(message);
  const first = chat.messages.slice(0, end).findLastIndex(({ type }) => type === 'human') + 1;
  chat.start({ messages: chat.messages.slice(0, first), instead_of: first });
}

interface InputProps {
  readonly chat: Chat;
  readonly name: string;
  readonly assistant_id: string;
  readonly place: string;
  readonly schema: unknown;
}

function Input({ chat, ...props }: InputProps) {
  const { messages, create, start, active, stop } = chat;
  return (
    <ChatInput
      {...props}
      said={messages.filter(({ type }) => type === 'human').map(textOf)}
      isDisabled={create.isPending}
      onStop={active && stop}
      mayInterrupt={chat.may_interrupt}
      isAsked={isAsked(chat)}
      onMessage={(message, onRefused, is_now) =>
        start({ input: { messages: [message] }, messages: [...messages, message], is_now, onRefused })
      }
      onInput={(input) => start({ input, messages })}
    />
  );
}

function State({ chat }: { chat: Chat }) {
  if (chat.is_busy) return <StatusPill status={chat.active?.status ?? 'pending'} />;
  return isAsked(chat) ? <Pill tone="wait">waiting for you</Pill> : null;
}

function isAsked({ is_busy, state }: Chat): boolean {
  return !is_busy && (state.data?.interrupts.length ?? 0) > 0;
}

interface LinksProps {
  readonly chat: Chat;
  readonly assistant_id: string;
  readonly thread_id: string;
  readonly at: string | undefined;
}

function Links({ chat, assistant_id, thread_id, at }: LinksProps) {
  const { can } = useSession();
  const run = chat.active ?? chat.last_run;
  return (
    <>
      {at !== undefined && (
        <Link to="." search={newest} replace className={buttonClass('quiet')}>
          Latest version
        </Link>
      )}
      <MoreActions>
        {can('run') && <StreamingSwitch />}
        <DetailToggle />
        <GraphToggle />
        {can('run') && <BreakpointsButton assistant_id={assistant_id} />}
        {run && (
          <Link to="/runs/$runId" params={{ runId: run.run_id }} className={buttonClass('quiet')}>
            Last run
          </Link>
        )}
        <Link to="/threads/$threadId" params={{ threadId: thread_id }} className={buttonClass()}>
          Inspect thread
        </Link>
      </MoreActions>
      <Link
        to="/chat/$assistantId"
        params={{ assistantId: assistant_id }}
        search={settingsOf}
        className={buttonClass()}
      >
        New thread
      </Link>
    </>
  );
}

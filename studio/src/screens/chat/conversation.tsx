import { type Key, type ReactNode, useLayoutEffect, useRef, useState } from 'react';
import { BranchSwitch, useForks } from './branch-switch.tsx';
import { useIsBrief } from './detail.tsx';
import { Message } from './message.tsx';
import type { Message as ChatMessage } from './messages.ts';
import { UiComponent } from './ui-component.tsx';
import { uiPlaces, withoutUi } from './ui-messages.ts';
import type { Chat } from './use-chat.ts';
import { ValuesView } from './values-view.tsx';

interface ConversationProps {
  readonly thread_id: string;
  readonly chat: Chat;
  readonly hasMessages: boolean;
  /** Calls `onSent` when the new text was accepted. */
  readonly onEdit: ((message: ChatMessage, text: string, onSent: () => void) => void) | undefined;
  readonly onRegenerate: ((message: ChatMessage) => void) | undefined;
  /** Content below the messages: questions from the agent and errors. */
  readonly children: ReactNode;
}

/** The messages of a thread, or its values without any. Keeps the end in view. */
export function Conversation({
  thread_id,
  chat,
  hasMessages,
  onEdit,
  onRegenerate,
  children,
}: ConversationProps) {
  const { messages, first_live, values } = chat;
  const forks = useForks(thread_id, chat.is_busy ? undefined : chat.state.data?.checkpoint_id);
  const results = useKept(resultsOf(messages));
  const scroller = useStaysAtEnd();
  const isBrief = useIsBrief();
  const [drafts, write] = useDrafts();
  const places = uiPlaces(chat.ui, messages);
  const componentsBelow = (index: number) =>
    (places.get(index) ?? []).map((message) => <UiComponent key={`ui ${message.id}`} message={message} />);
  return (
    <div
      ref={scroller}
      role="log"
      aria-label="Conversation"
      aria-busy={chat.is_busy}
      tabIndex={0}
      className="min-h-0 flex-1 overflow-auto"
    >
      <div className="flex flex-col gap-2 pb-4">
        {!hasMessages && <ValuesView values={withoutUi(values)} />}
        {!hasMessages && forks.get(0) && <BranchSwitch fork={forks.get(0)!} />}
        {componentsBelow(-1)}
        {messages.flatMap((message, i) => {
          const fork = forks.get(i);
          const key = message.id ?? i;
          return [
            <Message
              key={key}
              message={message}
              results={results}
              isLive={i >= first_live}
              isBrief={isBrief}
              branches={fork && <BranchSwitch fork={fork} />}
              editing={
                onEdit && {
                  text: drafts.get(key),
                  write: (text) => write(key, text),
                  send: (text) => onEdit(message, text, () => write(key, undefined)),
                }
              }
              onRegenerate={
                i === messages.length - 1 || messages[i + 1]?.type === 'human' ? onRegenerate : undefined
              }
            />,
            ...componentsBelow(i),
          ];
        })}
        {children}
      </div>
    </div>
  );
}

function resultsOf(messages: readonly ChatMessage[]): ReadonlyMap<string, ChatMessage> {
  const asked = new Set(messages.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }) => id)));
  return new Map(
    messages
      .filter(({ tool_call_id }) => tool_call_id !== undefined && asked.has(tool_call_id))
      .map((message) => [message.tool_call_id ?? '', message]),
  );
}

/** Returns the previous map while the new one has equal entries, so that a token rerenders only its own message. */
function useKept<Id, Value>(map: ReadonlyMap<Id, Value>): ReadonlyMap<Id, Value> {
  const [kept, keep] = useState(map);
  const isSame = kept.size === map.size && [...map].every(([id, value]) => kept.get(id) === value);
  if (isSame) return kept;
  keep(map);
  return map;
}

/**
 * Edited texts, by the key of the message. Kept outside the message component, which is unmounted while the new version is
 * being sent.
 */
function useDrafts() {
  const [drafts, setDrafts] = useState<ReadonlyMap<Key, string>>(new Map());
  const write = (key: Key, text: string | undefined) =>
    setDrafts((before) => {
      const others = [...before].filter(([each]) => each !== key);
      return new Map(text === undefined ? others : [...others, [key, text]]);
    });
  return [drafts, write] as const;
}

/** Distance that still counts as the end, px. */
const NEAR_PX = 80;

/** Keeps the end of a growing element in view until the reader scrolls up. */
function useStaysAtEnd() {
  const scroller = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  useLayoutEffect(() => {
    const element = scroller.current;
    const content = element?.firstElementChild;
    if (!element || !content) return;
    let before = element.scrollTop;
    const onScroll = () => {
      const { scrollTop, scrollHeight, clientHeight } = element;
      // The event fires late: content added since moves the end away without a scroll.
      const isDown = isAtEnd.current && scrollTop >= before;
      isAtEnd.current = isDown || scrollHeight - scrollTop - clientHeight < NEAR_PX;
      before = scrollTop;
    };
    const observer = new ResizeObserver(() => {
      if (isAtEnd.current) element.scrollTop = element.scrollHeight;
    });
    observer.observe(content);
    element.addEventListener('scroll', onScroll);
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', onScroll);
    };
  }, []);
  return scroller;
}

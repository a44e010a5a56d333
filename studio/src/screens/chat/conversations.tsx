import { Link, useParams } from '@tanstack/react-router';
import { SquarePen } from 'lucide-react';
import type { ReactNode } from 'react';
import { buttonClass } from '../../ui/button.tsx';
import { Ago, shortId } from '../../ui/format.tsx';
import { StatusPill } from '../../ui/pill.tsx';
import { Failure, Loading } from '../../ui/states.tsx';
import type { RecentThread } from './chat-queries.ts';
import { useRecentThreads } from './recent-threads.tsx';
import { settingsOf } from './streaming.tsx';

interface BesideConversationsProps {
  readonly assistant_id: string;
  readonly children: ReactNode;
}

/** A chat with the conversations of its assistant alongside. On small screens, a new conversation lists them. */
export function BesideConversations({ assistant_id, children }: BesideConversationsProps) {
  return (
    <div className="flex min-h-0 flex-1 gap-4">
      <nav
        aria-label="Conversations"
        className="flex w-56 flex-none flex-col gap-2 overflow-y-auto border-r border-line pr-3 max-lg:hidden"
      >
        <Link
          to="/chat/$assistantId"
          params={{ assistantId: assistant_id }}
          search={settingsOf}
          activeOptions={{ exact: true, includeSearch: false }}
          className={`${buttonClass('quiet')} m-0.5 flex-none justify-start aria-[current=page]:bg-sunk`}
        >
          <SquarePen size={15} strokeWidth={1.75} aria-hidden />
          New conversation
        </Link>
        <List assistant_id={assistant_id} />
      </nav>
      <div className="flex min-h-0 min-w-0 flex-1 flex-col">{children}</div>
    </div>
  );
}

function List({ assistant_id }: { assistant_id: string }) {
  const { data, error, retry, titleOf } = useRecentThreads(assistant_id);
  if (error) return <Failure error={error} retry={retry} />;
  if (!data) return <Loading what="conversations" />;
  return (
    <>
      <ul className="flex flex-col gap-px">
        {data.map((thread) => (
          <li key={thread.thread_id}>
            <Conversation thread={thread} title={titleOf(thread)} assistant_id={assistant_id} />
          </li>
        ))}
      </ul>
      {data.length > 0 && (
        <Link
          to="/threads"
          search={{ assistant: assistant_id }}
          className="m-0.5 px-2 text-xs text-accent hover:underline"
        >
          All threads
        </Link>
      )}
    </>
  );
}

interface ConversationProps {
  readonly thread: RecentThread;
  readonly title: string | undefined;
  readonly assistant_id: string;
}

function Conversation({ thread, title, assistant_id }: ConversationProps) {
  const open = useParams({ strict: false }) as { threadId?: string };
  const { thread_id = '', status, updated_at } = thread;
  return (
    <Link
      to="/chat/$assistantId/$threadId"
      params={{ assistantId: assistant_id, threadId: thread_id }}
      search={settingsOf}
      // The address may have the name of the graph instead of the assistant's id.
      aria-current={open.threadId === thread_id ? 'page' : undefined}
      className="m-0.5 flex flex-col rounded-md px-2 py-1 hover:bg-sunk aria-[current=page]:bg-sunk aria-[current=page]:font-medium"
    >
      <span className="truncate">
        {title === undefined ? (
          <span className="font-mono text-xs">{shortId(thread_id)}</span>
        ) : (
          <bdi>{title}</bdi>
        )}
      </span>
      <span className="flex items-center gap-2 text-xs font-normal text-ink-2">
        {updated_at && <Ago at={updated_at} />}
        {status && status !== 'idle' && <StatusPill status={status} />}
      </span>
    </Link>
  );
}

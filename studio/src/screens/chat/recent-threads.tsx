import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { assistantName, assistantsQuery } from '../../api/assistants.ts';
import { Ago, shortId } from '../../ui/format.tsx';
import { Card } from '../../ui/page.tsx';
import { StatusPill } from '../../ui/pill.tsx';
import { Empty, Failure, Loading } from '../../ui/states.tsx';
import { firstMessagesQuery, titleOf } from '../threads/threads-query.ts';
import { type RecentThread, recentThreadsQuery } from './chat-queries.ts';

/** Recent threads of one assistant, or of all. */
export function RecentThreads({ assistant_id }: { assistant_id?: string }) {
  const { data, error, retry, titleOf } = useRecentThreads(assistant_id);
  if (error) return <Failure error={error} retry={retry} />;
  if (!data) return <Loading what="conversations" />;
  if (data.length === 0) {
    const how =
      assistant_id === undefined ? 'Choose an assistant to start one.' : 'Send a message to start one.';
    return <Empty title="No conversations yet">{how}</Empty>;
  }
  return (
    <section aria-labelledby="recent" className="flex flex-col gap-2">
      <h2 id="recent" className="text-xs font-semibold text-ink-2">
        Recent conversations
      </h2>
      <Card>
        <ul>
          {data.map((thread) => (
            <Row
              key={thread.thread_id}
              thread={thread}
              title={titleOf(thread)}
              isOfAll={assistant_id === undefined}
            />
          ))}
        </ul>
      </Card>
    </section>
  );
}

/** Recent threads, newest first, and their titles, or first words, which load later. */
export function useRecentThreads(assistant_id?: string) {
  const { data, error, refetch } = useQuery(recentThreadsQuery(assistant_id));
  const untitled = data?.filter((thread) => !titleIn(thread)).map(({ thread_id = '' }) => thread_id) ?? [];
  const { data: firstMessages } = useQuery(firstMessagesQuery(untitled));
  return {
    data,
    error,
    retry: () => void refetch(),
    titleOf: (thread: RecentThread) => titleIn(thread) ?? firstMessages?.get(thread.thread_id ?? ''),
  };
}

const titleIn = ({ metadata = {} }: RecentThread) => titleOf({ metadata });

interface RowProps {
  readonly thread: RecentThread;
  readonly title: string | undefined;
  readonly isOfAll: boolean;
}

function Row({ thread, title, isOfAll }: RowProps) {
  const { thread_id = '', metadata = {}, status, updated_at } = thread;
  const { data: assistants = [] } = useQuery(assistantsQuery);
  const assistantId = String(metadata['assistant_id']);
  const assistant = assistants.find((each) => each.assistant_id === assistantId);
  return (
    <li className="border-b border-line last:border-0 hover:bg-sunk">
      <Link
        to="/chat/$assistantId/$threadId"
        params={{ assistantId, threadId: thread_id }}
        className="flex items-center gap-x-3 px-3 py-1.5 max-sm:flex-wrap"
      >
        {title !== undefined ? (
          <span className="min-w-0 truncate font-medium">{title}</span>
        ) : (
          <span className="font-mono text-xs">{shortId(thread_id)}</span>
        )}
        {isOfAll && assistant && (
          <span className="min-w-0 truncate text-ink-2">{assistantName(assistant)}</span>
        )}
        <span className="ml-auto flex flex-none items-center gap-3 text-xs text-ink-2">
          {status && status !== 'idle' && <StatusPill status={status} />}
          {updated_at && <Ago at={updated_at} />}
        </span>
      </Link>
    </li>
  );
}

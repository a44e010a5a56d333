import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { assistantName, assistantsQuery } from '../../api/assistants.ts';
import { Page } from '../../ui/page.tsx';
import { Empty, Failure, Loading } from '../../ui/states.tsx';
import { RecentThreads } from './recent-threads.tsx';

/** Lists assistants to talk to and recent conversations. */
export function ChatHome() {
  const { data, error, refetch } = useQuery(assistantsQuery);
  return (
    <Page title="Chat">
      {error ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : !data ? (
        <Loading what="assistants" />
      ) : data.length === 0 ? (
        <Empty title="No assistants">Add a graph to the configuration.</Empty>
      ) : (
        <ul aria-label="Assistants" className="grid gap-3 sm:grid-cols-2 xl:grid-cols-3">
          {data.map((assistant) => (
            <li key={assistant.assistant_id}>
              <Link
                to="/chat/$assistantId"
                params={{ assistantId: assistant.assistant_id }}
                className="flex h-full flex-col gap-1 rounded-[10px] border border-line bg-panel p-4 wrap-anywhere hover:border-line-strong"
              >
                <span className="font-semibold">{assistantName(assistant)}</span>
                <span className="text-ink-2">{assistant.description ?? `Graph ${assistant.graph_id}`}</span>
              </Link>
            </li>
          ))}
        </ul>
      )}
      <RecentThreads />
    </Page>
  );
}

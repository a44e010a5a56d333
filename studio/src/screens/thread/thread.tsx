import { usePrefetchInfiniteQuery, usePrefetchQuery, useQuery } from '@tanstack/react-query';
import { useParams, useSearch } from '@tanstack/react-router';
import { useSession } from '../../api/session.ts';
import { byteSize, count, plural } from '../../ui/format.tsx';
import { Json } from '../../ui/json.tsx';
import { useMoney } from '../../ui/money.ts';
import { Page } from '../../ui/page.tsx';
import { StatusPill } from '../../ui/pill.tsx';
import { Failure, Loading } from '../../ui/states.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { isPriced, tokensOf } from '../runs/run-usage.ts';
import { firstMessagesQuery, type Thread as ThreadData, titleOf } from '../threads/threads-query.ts';
import { Checkpoints } from './checkpoints.tsx';
import { Metadata } from './metadata.tsx';
import { ThreadRuns } from './runs.tsx';
import { Storage } from './storage.tsx';
import { ThreadActions } from './thread-actions.tsx';
import { stateQuery, storageQuery, threadQuery, treeQuery, usageQuery } from './thread-queries.ts';

const TABS = ['checkpoints', 'runs', 'state', 'metadata', 'storage'] as const;

/** One thread: its history, runs and values. */
export function Thread() {
  const { threadId } = useParams({ from: '/threads/$threadId' });
  // Prefetched: the first view needs these too and should not wait for the thread.
  usePrefetchInfiniteQuery(treeQuery(threadId));
  usePrefetchQuery(storageQuery(threadId));
  const { data, error, refetch } = useQuery(threadQuery(threadId));
  if (error) {
    return (
      <Page title="Thread">
        <Failure error={error} retry={() => void refetch()} />
      </Page>
    );
  }
  if (!data) return <Loading what="the thread" />;
  // The key drops messages about another thread.
  return <Content key={threadId} thread={data} />;
}

function Content({ thread }: { thread: ThreadData }) {
  const { thread_id } = thread;
  const search = useSearch({ from: '/threads/$threadId' });
  const tab = TABS.find((each) => each === search.tab) ?? 'checkpoints';
  const title = titleOf(thread);
  const { data: first } = useQuery(firstMessagesQuery(title === undefined ? [thread_id] : []));
  const { data: storage } = useQuery(storageQuery(thread_id));
  return (
    <Page
      title={title ?? first?.get(thread_id) ?? 'Thread'}
      beside={
        <>
          <StatusPill status={thread.status} />
          <span className="font-mono text-xs break-all text-ink-3">{thread_id}</span>
          <Usage threadId={thread_id} />
        </>
      }
      actions={<ThreadActions thread={thread} title={title} />}
    >
      <Tabs
        tabs={[
          { name: 'checkpoints', label: `Checkpoints${storage ? ` ${storage.checkpoints.count}` : ''}` },
          { name: 'runs', label: 'Runs' },
          { name: 'state', label: 'State' },
          { name: 'metadata', label: 'Metadata' },
          { name: 'storage', label: `Storage${storage ? ` ${byteSize(storage.total_bytes)}` : ''}` },
        ]}
        open={tab}
      />
      {tab === 'checkpoints' && <Checkpoints thread={thread} />}
      {tab === 'runs' && <ThreadRuns threadId={thread_id} />}
      {tab === 'state' && <State threadId={thread_id} />}
      {tab === 'metadata' && <Metadata thread={thread} />}
      {tab === 'storage' && <Storage threadId={thread_id} />}
    </Page>
  );
}

/** Tokens and cost of the thread's runs; nothing if they called no model. */
function Usage({ threadId }: { threadId: string }) {
  const enabled = useSession().extensions.includes('usage');
  const { data } = useQuery({ ...usageQuery(threadId), enabled });
  const money = useMoney();
  if (!data || data.calls === 0) return null;
  const tokens = tokensOf(data);
  return (
    <span className="text-ink-2">
      {`${count(tokens)} ${plural(tokens, 'token')}`}
      {isPriced(data) && ` · ${money(data.cost)}`}
    </span>
  );
}

function State({ threadId }: { threadId: string }) {
  const { data, error, refetch } = useQuery(stateQuery(threadId));
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  if (!data) return <Loading what="the state" />;
  return <Json value={data.values} label="Newest values" />;
}

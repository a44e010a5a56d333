import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Empty, Failure, Loading } from '../../ui/states.tsx';
import type { Thread } from '../threads/threads-query.ts';
import { nameOf } from './checkpoint-names.ts';
import { Details } from './details.tsx';
import { Diff } from './diff-view.tsx';
import { type CheckpointNode, treeQuery } from './thread-queries.ts';
import { Tree } from './tree.tsx';

/** The checkpoint tree of a thread, and the diff of two checkpoints. Both selections are in the address. */
export function Checkpoints({ thread }: { thread: Thread }) {
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(
    treeQuery(thread.thread_id),
  );
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  if (!data) return <Loading what="checkpoints" />;
  const nodes = data.pages.flatMap((page) => page.data);
  const newest = nodes[0];
  if (!newest) {
    return <Empty title="No checkpoints yet">A run writes a checkpoint after each step.</Empty>;
  }
  const loadMore = () => void (isFetchingNextPage || fetchNextPage());
  return <Panes {...{ thread, nodes, newest, loadMore }} isComplete={!hasNextPage} />;
}

interface PanesProps {
  readonly thread: Thread;
  readonly nodes: readonly CheckpointNode[];
  readonly newest: CheckpointNode;
  readonly isComplete: boolean;
  readonly loadMore: () => void;
}

function Panes({ thread, nodes, newest, isComplete, loadMore }: PanesProps) {
  const { checkpoint, with: other } = useSearch({ from: '/threads/$threadId' });
  const navigate = useNavigate({ from: '/threads/$threadId' });
  const [picks, setPicks] = useState(false);
  const show = (change: { checkpoint?: string; with?: string | undefined }) =>
    // The tree itself scrolls to the selected checkpoint.
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true, resetScroll: false });
  const at = checkpoint === undefined ? 0 : nodes.findIndex((node) => node.checkpoint_id === checkpoint);
  const node = nodes[at] ?? newest;
  function select(id: string) {
    if (picks) show({ with: id });
    else show({ checkpoint: id });
    setPicks(false);
  }
  // An old checkpoint may be on a page that is not loaded yet.
  const isMissing = at < 0 && !isComplete;
  useEffect(() => {
    if (isMissing) loadMore();
  });
  return (
    <div className="grid min-h-0 flex-1 gap-4 max-lg:flex-none lg:grid-cols-[300px_minmax(0,1fr)_280px]">
      <Tree
        threadId={thread.thread_id}
        {...{ nodes, isComplete, loadMore, select }}
        selected={node.checkpoint_id}
        compared={other}
        isInterrupted={thread.status === 'interrupted'}
      />
      <Diff
        threadId={thread.thread_id}
        node={node}
        other={other ?? node.parent_checkpoint_id}
        title={
          <ComparisonTitle
            {...{ node, nodes, other, picks }}
            reset={() => {
              setPicks(false);
              show({ with: undefined });
            }}
          />
        }
      />
      <Details
        // The key drops messages about another checkpoint.
        key={node.checkpoint_id}
        {...{ thread, node }}
        compare={() => setPicks(true)}
        select={(id) => show({ checkpoint: id, with: undefined })}
      />
    </div>
  );
}

interface ComparisonTitleProps {
  readonly node: CheckpointNode;
  readonly nodes: readonly CheckpointNode[];
  readonly other: string | undefined;
  readonly picks: boolean;
  readonly reset: () => void;
}

function ComparisonTitle({ node, nodes, other, picks, reset }: ComparisonTitleProps) {
  const found = nodes.find(({ checkpoint_id }) => checkpoint_id === other);
  const isFirst = node.parent_checkpoint_id === null;
  return (
    <>
      <h2 className="min-w-0 font-semibold wrap-anywhere">{nameOf(node)}</h2>
      {picks ? (
        <span role="status" className="text-accent">
          Select a checkpoint to compare with.
        </span>
      ) : (
        <span className="text-ink-3">
          {other && `compared with ${found ? `step ${found.step}` : other}`}
          {!other && (isFirst ? 'the first checkpoint' : 'compared with its parent')}
        </span>
      )}
      {(picks || other) && (
        <Button look="quiet" onClick={reset}>
          Compare with its parent
        </Button>
      )}
    </>
  );
}

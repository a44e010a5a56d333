import { useQuery } from '@tanstack/react-query';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, useEffect, useMemo, useRef } from 'react';
import { After, Ago } from '../../ui/format.tsx';
import { Card } from '../../ui/page.tsx';
import { nameOf, namesOf } from './checkpoint-names.ts';
import { type Rail, railsOf } from './lanes.ts';
import { type DotTone, RailDrawing, ROW_HEIGHT, railWidth } from './rail.tsx';
import { type CheckpointNode, nextQuery } from './thread-queries.ts';

interface TreeProps {
  readonly threadId: string;
  readonly nodes: readonly CheckpointNode[];
  /** Whether `nodes` includes the oldest one. */
  readonly isComplete: boolean;
  readonly loadMore: () => void;
  readonly selected: string;
  readonly compared: string | undefined;
  /** Whether the newest checkpoint is waiting for an answer. */
  readonly isInterrupted: boolean;
  readonly select: (checkpoint_id: string) => void;
}

/** Checkpoints as a rail with branches, newest first. Arrow keys select. */
export function Tree(props: TreeProps) {
  const { threadId, nodes, isComplete, loadMore, selected, compared, isInterrupted, select } = props;
  const byId = useMemo(() => new Map(nodes.map((node) => [node.checkpoint_id, node])), [nodes]);
  const rails = useMemo(() => railsOf(nodes, isComplete), [nodes, isComplete]);
  const width = useMemo(() => railWidth(rails), [rails]);
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: nodes.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 8,
  });
  const rows = virtual.getVirtualItems();
  const last = rows.at(-1)?.index ?? 0;
  const { data: state } = useQuery({
    ...nextQuery(threadId, nodes[0]?.checkpoint_id ?? ''),
    enabled: isInterrupted && nodes.length > 0,
  });
  const at = nodes.findIndex(({ checkpoint_id }) => checkpoint_id === selected);
  useEffect(() => {
    if (at >= 0) virtual.scrollToIndex(at);
  }, [at, virtual]);
  useEffect(() => {
    if (!isComplete && last >= nodes.length - 1) loadMore();
  }, [isComplete, last, nodes.length, loadMore]);
  function onKeyDown(event: KeyboardEvent) {
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: nodes.length - 1 }[event.key];
    const node = to === undefined ? undefined : nodes[to];
    if (!node) return;
    event.preventDefault();
    select(node.checkpoint_id);
  }
  return (
    <Card className="flex min-h-[220px] min-w-0 flex-col overflow-hidden has-focus-visible:outline-2 has-focus-visible:outline-accent max-lg:max-h-[320px]">
      <div
        ref={scroller}
        role="listbox"
        tabIndex={0}
        aria-label="Checkpoints"
        aria-activedescendant={`checkpoint-${selected}`}
        onKeyDown={onKeyDown}
        className="min-h-0 flex-1 overflow-auto outline-none"
      >
        <div role="presentation" className="relative" style={{ height: virtual.getTotalSize() }}>
          {rows.map(({ index, start: top }) => {
            const node = nodes[index] as CheckpointNode;
            return (
              <Row
                key={node.checkpoint_id}
                {...{ node, width, top }}
                rail={rails[index] as Rail}
                parent={byId.get(node.parent_checkpoint_id ?? '')}
                position={[index + 1, isComplete ? nodes.length : -1]}
                isSelected={node.checkpoint_id === selected}
                isCompared={node.checkpoint_id === compared}
                waitsAt={isInterrupted && index === 0 ? (state ? namesOf(state.next) : 'a node') : undefined}
                select={() => select(node.checkpoint_id)}
              />
            );
          })}
        </div>
      </div>
    </Card>
  );
}

interface RowProps {
  readonly node: CheckpointNode;
  readonly rail: Rail;
  /** The checkpoint before, if it is loaded. */
  readonly parent: CheckpointNode | undefined;
  readonly width: number;
  readonly top: number;
  readonly position: readonly [at: number, of: number];
  readonly isSelected: boolean;
  readonly isCompared: boolean;
  /** Nodes that wait for an answer after this checkpoint. */
  readonly waitsAt: string | undefined;
  readonly select: () => void;
}

function Row({ node, rail, parent, width, top, position, waitsAt, select, ...is }: RowProps) {
  const { checkpoint_id, source, changed_channels, created_at, run_id } = node;
  const since = parent?.run_id === run_id ? parent.created_at : null;
  const isWaiting = waitsAt !== undefined;
  const isByHand = source === 'update' || source === 'fork';
  const tone: DotTone = isWaiting ? 'text-wait' : isByHand ? 'text-accent' : 'text-ink-3';
  const changes = changed_channels?.join(', ') ?? 'parent pruned';
  const isEnd = rail.from.length === 0 && position[0] > 1;
  const note = [...(isEnd ? ['branch end'] : []), changes || 'no changes'].join(' · ');
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the list has the keys
    <div
      id={`checkpoint-${checkpoint_id}`}
      role="option"
      tabIndex={-1}
      aria-selected={is.isSelected}
      aria-posinset={position[0]}
      aria-setsize={position[1]}
      onClick={select}
      className="absolute inset-x-0 flex cursor-pointer items-center gap-1 border-b border-line pr-3.5 hover:bg-sunk aria-selected:bg-sunk"
      style={{ top, height: ROW_HEIGHT }}
    >
      <RailDrawing rail={rail} tone={tone} width={width} isFilled={is.isSelected} />
      <span className="min-w-0 flex-1">
        <span className="block truncate font-medium">
          {nameOf(node)}
          {is.isCompared && <span className="ml-1.5 font-normal text-accent">compared</span>}
        </span>
        <span className={`block truncate ${isWaiting ? 'text-wait' : 'text-ink-3'}`}>
          {isWaiting ? `waiting at ${waitsAt}` : note}
        </span>
      </span>
      <span className="text-ink-3">
        {created_at && (since ? <After at={created_at} since={since} /> : <Ago at={created_at} />)}
      </span>
    </div>
  );
}

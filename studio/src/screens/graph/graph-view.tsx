import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo, useRef, useState } from 'react';
import { Card } from '../../ui/page.tsx';
import { Pill } from '../../ui/pill.tsx';
import { Failure, Loading } from '../../ui/states.tsx';
import type { Breakpoints } from './breakpoints.ts';
import { Drawing } from './drawing.tsx';
import { graphModel, subgraphIds } from './graph-model.ts';
import { layOut } from './layout.ts';
import { type NodeStatus, STATUS_TONES } from './node-states.ts';
import { MissingNodes, Origin } from './run-notes.tsx';
import { Tools } from './tools.tsx';
import { useDrawings } from './use-drawings.ts';
import { type RunStates, useRunStates } from './use-run-states.ts';
import { Viewport } from './viewport.tsx';

interface GraphViewProps {
  readonly assistantId: string;
  /** Shows the state of each node in this run, live. */
  readonly runId?: string | undefined;
  readonly title?: string;
  /** Id of the selected node. Uncontrolled if absent. */
  readonly selected?: string | undefined;
  readonly onSelect?: (id: string | undefined) => void;
  /** The reader's breakpoints, shown at the nodes. */
  readonly breakpoints?: Breakpoints;
  /** Ids of the expanded subgraphs, if the parent controls them. */
  readonly expanded?: readonly string[];
  readonly onExpand?: (ids: readonly string[]) => void;
  readonly className?: string;
}

/** The compiled graph of an assistant. Also used by the chat and the run screen. */
export function GraphView(props: GraphViewProps) {
  // The key drops the state of another assistant's graph.
  return <View key={props.assistantId} {...props} />;
}

function View({ assistantId, runId, title = 'Graph', className = '', ...props }: GraphViewProps) {
  const [ownExpanded, setOwnExpanded] = useState<readonly string[]>([]);
  const [ownSelected, setOwnSelected] = useState<string>();
  const [zoom, setZoom] = useState<number>();
  const drawing = useRef<HTMLDivElement>(null);
  const { expanded = ownExpanded, onExpand = setOwnExpanded, onSelect = setOwnSelected } = props;
  const selected = 'selected' in props ? props.selected : ownSelected;
  const drawings = useDrawings(assistantId, runId);
  const { model, groups, layout, error, retry } = useLayout(drawings, expanded);
  const run = useRunStates(runId);
  if (error || !model || !layout) {
    return (
      <Card className={className}>
        {error ? <Failure error={error} retry={retry} /> : <Loading what="the graph" />}
        {error && run.states && <MissingNodes states={topLevel(run.states)} onSelect={onSelect} />}
      </Card>
    );
  }
  const svg = () => drawing.current?.querySelector('svg') ?? undefined;
  const toggle = (id: string) =>
    onExpand(expanded.includes(id) ? expanded.filter((each) => each !== id) : [...expanded, id]);
  const known = new Set(layout.nodes.map(({ id }) => id));
  const missing = new Map([...topLevel(run.states)].filter(([id]) => !known.has(id)));
  return (
    <Card className={`flex min-h-0 min-w-0 flex-col overflow-hidden ${className}`}>
      <Tools
        title={title}
        model={model}
        groups={groups}
        expanded={expanded}
        onExpand={onExpand}
        zoom={zoom}
        onZoom={setZoom}
        svg={svg}
      />
      {run.error && <Failure error={run.error} />}
      <div ref={drawing} className="flex min-h-0 flex-1 flex-col p-2">
        <Viewport label={`${title}, drawing`}>
          <Drawing
            layout={layout}
            label={title}
            states={run.states}
            selected={selected}
            breakpoints={props.breakpoints}
            onSelect={onSelect}
            onExpand={toggle}
            zoom={zoom}
          />
        </Viewport>
      </div>
      {drawings.isOwn && drawings.plain && (
        <>
          <MissingNodes states={missing} onSelect={onSelect} />
          <Origin assistantId={assistantId} drawing={drawings.plain} ended_at={drawings.ended_at} />
        </>
      )}
      {runId !== undefined && <Legend />}
    </Card>
  );
}

/** The previous layout stays until the next one is computed. */
function useLayout(
  { plain, xrayed, error: failure, retry }: ReturnType<typeof useDrawings>,
  expanded: readonly string[],
) {
  const model = useMemo(
    () => plain && xrayed && graphModel(plain, xrayed, new Set(expanded)),
    [plain, xrayed, expanded],
  );
  const { data: layout, error } = useQuery({
    queryKey: ['layout', model],
    queryFn: () => (model ? layOut(model) : null),
    enabled: model !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: keepPreviousData,
  });
  return { model, layout, groups: xrayed ? subgraphIds(xrayed) : [], error: failure ?? error, retry };
}

/** States of top-level nodes only: names in subgraphs may belong to a graph that a node calls. */
function topLevel(states: RunStates['states'] = new Map()): NonNullable<RunStates['states']> {
  return new Map([...states].filter(([id]) => !id.includes(':')));
}

const STATUSES: readonly NodeStatus[] = ['done', 'running', 'waits', 'failed', 'cancelled', 'ahead'];

function Legend() {
  return (
    <ul aria-label="Legend" className="flex flex-wrap gap-1.5 border-t border-line px-3 py-2">
      {STATUSES.map((status) => (
        <li key={status}>
          <Pill tone={STATUS_TONES[status]}>{status}</Pill>
        </li>
      ))}
    </ul>
  );
}

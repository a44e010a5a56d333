import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo, useRef, useState } from 'react';
import { Card } from '../../ui/page.tsx';
import { Pill } from '../../ui/pill.tsx';
import { Failure, Loading } from '../../ui/states.tsx';
import type { Breakpoints } from './breakpoints.ts';
import { Drawing } from './drawing.tsx';
import { graphModel, subgraphIds } from './graph-model.ts';
import { drawingQuery } from './graph-queries.ts';
import { layOut } from './layout.ts';
import { type NodeStatus, STATUS_TONES } from './node-states.ts';
import { Tools } from './tools.tsx';
import { useRunStates } from './use-run-states.ts';
import { Viewport } from './viewport.tsx';

interface GraphViewProps {
  readonly assistantId: string;
  /** Shows what each node has done in this run, also while it executes. */
  readonly runId?: string | undefined;
  readonly title?: string;
  /** Id of a node; without it the view has a selection of its own. */
  readonly selected?: string | undefined;
  readonly onSelect?: (id: string | undefined) => void;
  /** Of the reader, shown at the nodes. */
  readonly breakpoints?: Breakpoints;
  /** Ids of the subgraphs whose nodes are shown, when the owner remembers them. */
  readonly expanded?: readonly string[];
  readonly onExpand?: (ids: readonly string[]) => void;
  readonly className?: string;
}

/** The compiled graph of an assistant. It is useful alone: the chat and the page of a run show it too. */
export function GraphView(props: GraphViewProps) {
  // Nothing of another graph stays when the assistant changes.
  return <View key={props.assistantId} {...props} />;
}

function View({ assistantId, runId, title = 'Graph', className = '', ...props }: GraphViewProps) {
  const [ownExpanded, setOwnExpanded] = useState<readonly string[]>([]);
  const [ownSelected, setOwnSelected] = useState<string>();
  const [zoom, setZoom] = useState<number>();
  const drawing = useRef<HTMLDivElement>(null);
  const { expanded = ownExpanded, onExpand = setOwnExpanded, onSelect = setOwnSelected } = props;
  const selected = 'selected' in props ? props.selected : ownSelected;
  const { model, groups, layout, error, retry } = useLayout(assistantId, expanded);
  const run = useRunStates(runId);
  if (error || !model || !layout) {
    return (
      <Card className={className}>
        {error ? <Failure error={error} retry={retry} /> : <Loading what="the graph" />}
      </Card>
    );
  }
  const svg = () => drawing.current?.querySelector('svg') ?? undefined;
  const toggle = (id: string) =>
    onExpand(expanded.includes(id) ? expanded.filter((each) => each !== id) : [...expanded, id]);
  const known = new Set(layout.nodes.map(({ id }) => id));
  const foreign = [...(run.states?.keys() ?? [])].filter((id) => !id.includes(':') && !known.has(id));
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
      {foreign.length > 0 && (
        <p className="border-t border-line px-3 py-2 text-xs text-ink-2">
          The run also executed nodes that the graph does not have now: {foreign.join(', ')}.
        </p>
      )}
      {runId !== undefined && <Legend />}
    </Card>
  );
}

/** The layout stays while another one is being found. */
function useLayout(assistantId: string, expanded: readonly string[]) {
  const plain = useQuery(drawingQuery(assistantId, false));
  const xrayed = useQuery(drawingQuery(assistantId, true));
  const model = useMemo(
    () => plain.data && xrayed.data && graphModel(plain.data, xrayed.data, new Set(expanded)),
    [plain.data, xrayed.data, expanded],
  );
  const { data: layout, error } = useQuery({
    queryKey: ['layout', model],
    queryFn: () => (model ? layOut(model) : null),
    enabled: model !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: keepPreviousData,
  });
  const failed = [plain, xrayed].find((query) => query.error !== null);
  return {
    model,
    layout,
    groups: xrayed.data ? subgraphIds(xrayed.data) : [],
    error: failed?.error ?? error,
    retry: failed && (() => void failed.refetch()),
  };
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

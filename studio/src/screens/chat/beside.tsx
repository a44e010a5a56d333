import { Link, useSearch } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense, useState } from 'react';
import { useSession } from '../../api/session.ts';
import { buttonClass } from '../../ui/button.tsx';
import { Card } from '../../ui/page.tsx';
import { Loading } from '../../ui/states.tsx';
import { mayStopAt, useBreakpoints } from '../graph/breakpoints.ts';
import { NodeBreakpoints } from '../graph/node-breakpoints.tsx';
import { Column } from './column.tsx';

// Lazy, so that a conversation does not wait for the graph renderer.
const GraphView = lazy(async () => ({ default: (await import('../graph/graph-view.tsx')).GraphView }));

/** Whether the graph is shown next to the conversation, from the address. */
export function useHasGraph(): boolean {
  return (useSearch({ strict: false }) as { graph?: string }).graph !== undefined;
}

/** Shows or hides the graph. */
export function GraphToggle() {
  const hasGraph = useHasGraph();
  return (
    <Link
      to="."
      search={({ graph: _, ...others }: { graph?: string }) =>
        hasGraph ? others : { ...others, graph: 'open' }
      }
      replace
      className={buttonClass('quiet')}
    >
      {hasGraph ? 'Hide graph' : 'Graph'}
    </Link>
  );
}

interface BesideGraphProps {
  readonly assistant_id: string;
  /** The run whose path through the graph is shown. */
  readonly run_id: string | undefined;
  readonly children: ReactNode;
}

/** A conversation with an optional graph next to it, whose nodes light up as they execute. */
export function BesideGraph({ assistant_id, run_id, children }: BesideGraphProps) {
  if (!useHasGraph()) return <Column>{children}</Column>;
  return (
    <div className="grid min-h-0 flex-1 gap-4 max-lg:grid-cols-[minmax(0,1fr)] max-lg:grid-rows-[minmax(0,1fr)_minmax(0,1fr)] lg:grid-cols-[minmax(0,1fr)_minmax(320px,40%)] lg:grid-rows-[minmax(0,1fr)]">
      <Column>{children}</Column>
      <ChatGraph assistant_id={assistant_id} run_id={run_id} />
    </div>
  );
}

function ChatGraph({ assistant_id, run_id }: Omit<BesideGraphProps, 'children'>) {
  const { can } = useSession();
  const [selected, setSelected] = useState<string>();
  const breakpoints = useBreakpoints(assistant_id);
  return (
    <div className="flex min-h-0 flex-col gap-2">
      <Suspense fallback={<Loading what="the graph" />}>
        <GraphView
          assistantId={assistant_id}
          runId={run_id}
          selected={selected}
          onSelect={setSelected}
          breakpoints={breakpoints}
          className="flex-1"
        />
      </Suspense>
      {selected !== undefined && can('run') && mayStopAt(selected) && (
        <Card className="flex flex-none flex-wrap items-center gap-4 px-3 py-2">
          <span className="min-w-0 flex-1 truncate">
            Stop runs of this tab at <b className="font-medium">{selected}</b>
          </span>
          <NodeBreakpoints assistant_id={assistant_id} node={selected} />
        </Card>
      )}
    </div>
  );
}

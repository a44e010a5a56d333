import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Failure, Loading } from '../../ui/states.tsx';
import { mayStopAt, useBreakpoints } from '../graph/breakpoints.ts';
import { drawingQuery } from '../graph/graph-queries.ts';
import { NodeBreakpoints } from '../graph/node-breakpoints.tsx';

/** Nodes where runs of the assistant pause, so that their state can be inspected and edited. */
export function BreakpointsButton({ assistant_id }: { assistant_id: string }) {
  const [isOpen, setOpen] = useState(false);
  const { interrupt_before = [], interrupt_after = [] } = useBreakpoints(assistant_id);
  const amount = interrupt_before.length + interrupt_after.length;
  return (
    <>
      <Button look="quiet" onClick={() => setOpen(true)}>
        {amount === 0 ? 'Breakpoints' : `${amount} ${amount === 1 ? 'breakpoint' : 'breakpoints'}`}
      </Button>
      <Dialog title="Breakpoints" open={isOpen} onClose={() => setOpen(false)}>
        <p className="text-ink-2">Runs you start in this tab stop before or after these nodes.</p>
        <Nodes assistant_id={assistant_id} />
        <Button className="self-end" onClick={() => setOpen(false)}>
          Done
        </Button>
      </Dialog>
    </>
  );
}

function Nodes({ assistant_id }: { assistant_id: string }) {
  const { data, error, refetch } = useQuery(drawingQuery(assistant_id, false));
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  if (!data) return <Loading what="the nodes" />;
  const nodes = data.nodes.map(({ id }) => String(id)).filter(mayStopAt);
  return (
    <ul className="flex max-h-80 flex-col overflow-auto">
      {nodes.map((node) => (
        <li key={node} className="flex items-center gap-4 border-b border-line py-1.5 last:border-0">
          <span className="min-w-0 flex-1 truncate">{node}</span>
          <NodeBreakpoints assistant_id={assistant_id} node={node} />
        </li>
      ))}
    </ul>
  );
}

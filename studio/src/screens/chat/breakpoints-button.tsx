import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Failure, Loading } from '../../ui/states.tsx';
import { drawingQuery } from '../graph/graph-queries.ts';
import { type Breakpoints, setBreakpoints, useBreakpoints } from './breakpoints.ts';

const ENDS = new Set(['__start__', '__end__']);

/** Where runs of the assistant stop, so that their state can be looked at and changed before they go on. */
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
        <p className="text-ink-2">Runs that you start here, in this tab, stop before or after these nodes.</p>
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
  const breakpoints = useBreakpoints(assistant_id);
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  if (!data) return <Loading what="the nodes" />;
  const nodes = data.nodes.map(({ id }) => String(id)).filter((id) => !ENDS.has(id));
  return (
    <ul className="flex max-h-80 flex-col overflow-auto">
      {nodes.map((node) => (
        <li key={node} className="flex items-center gap-4 border-b border-line py-1.5 last:border-0">
          <span className="min-w-0 flex-1 truncate">{node}</span>
          <Place {...{ assistant_id, breakpoints, node }} place="interrupt_before" word="before" />
          <Place {...{ assistant_id, breakpoints, node }} place="interrupt_after" word="after" />
        </li>
      ))}
    </ul>
  );
}

interface PlaceProps {
  readonly assistant_id: string;
  readonly breakpoints: Breakpoints;
  readonly node: string;
  readonly place: keyof Breakpoints;
  readonly word: string;
}

function Place({ assistant_id, breakpoints, node, place, word }: PlaceProps) {
  const names = breakpoints[place] ?? [];
  function toggle(isOn: boolean) {
    const others = names.filter((name) => name !== node);
    setBreakpoints(assistant_id, { ...breakpoints, [place]: isOn ? [...others, node] : others });
  }
  return (
    <label className="flex items-center gap-1.5 text-ink-2">
      <input
        type="checkbox"
        className="accent-accent"
        aria-label={`${word} ${node}`}
        checked={names.includes(node)}
        onChange={({ target }) => toggle(target.checked)}
      />
      {word}
    </label>
  );
}

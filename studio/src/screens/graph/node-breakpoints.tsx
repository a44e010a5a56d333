import { type Breakpoints, setBreakpoints, useBreakpoints } from './breakpoints.ts';

/** Toggles breakpoints before and after a node, for runs started in this tab. */
export function NodeBreakpoints({ assistant_id, node }: { assistant_id: string; node: string }) {
  const breakpoints = useBreakpoints(assistant_id);
  return (
    <>
      <Place {...{ assistant_id, breakpoints, node }} place="interrupt_before" word="before" />
      <Place {...{ assistant_id, breakpoints, node }} place="interrupt_after" word="after" />
    </>
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

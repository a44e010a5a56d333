import { type PointerEvent, type ReactNode, useRef } from 'react';

/** A scroll container that can be panned by dragging its background. */
export function Viewport({ label, children }: { label: string; children: ReactNode }) {
  const drag = useRef<{ x: number; y: number } | undefined>(undefined);
  function start({
    button,
    clientX: x,
    clientY: y,
    target,
    currentTarget,
    pointerId,
  }: PointerEvent<HTMLElement>) {
    if (button !== 0 || (target instanceof Element && target.closest('[role=button]'))) return;
    drag.current = { x, y };
    currentTarget.setPointerCapture(pointerId);
  }
  function move({ clientX: x, clientY: y, currentTarget }: PointerEvent<HTMLElement>) {
    const { current } = drag;
    if (!current) return;
    currentTarget.scrollBy(current.x - x, current.y - y);
    drag.current = { x, y };
  }
  const end = () => {
    drag.current = undefined;
  };
  return (
    <section
      aria-label={label}
      tabIndex={0}
      onPointerDown={start}
      onPointerMove={move}
      onPointerUp={end}
      onPointerCancel={end}
      className="flex min-h-0 flex-1 cursor-grab overflow-auto active:cursor-grabbing"
    >
      {children}
    </section>
  );
}

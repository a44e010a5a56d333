import { type ReactNode, useEffect, useRef } from 'react';

interface TailBoxProps {
  readonly label: string;
  readonly lines: readonly unknown[];
  readonly className?: string;
  readonly children: ReactNode;
}

/** A log box that stays at the newest line unless the reader scrolls up. */
export function TailBox({ label, lines, className = 'h-64', children }: TailBoxProps) {
  const box = useRef<HTMLElement>(null);
  const isAtEnd = useRef(true);
  useEffect(() => {
    if (lines.length > 0 && isAtEnd.current) box.current?.scrollTo({ top: box.current.scrollHeight });
  }, [lines]);
  return (
    <section
      ref={box}
      tabIndex={0}
      aria-label={label}
      className={`overflow-auto rounded-lg bg-sunk p-3 ${className}`}
      onScroll={({ currentTarget: { scrollTop, clientHeight, scrollHeight } }) => {
        isAtEnd.current = scrollTop + clientHeight > scrollHeight - 40;
      }}
    >
      {children}
    </section>
  );
}

import type { ReactNode } from 'react';

/** A readable line width. */
export function Column({ children }: { children: ReactNode }) {
  return <div className="mx-auto flex min-h-0 w-full max-w-[760px] flex-1 flex-col gap-3">{children}</div>;
}

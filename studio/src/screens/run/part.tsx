import type { ReactNode } from 'react';

/** A part of the contents with a heading. */
export function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title} className="flex min-w-0 flex-col gap-1.5">
      <h3 className="font-medium">{title}</h3>
      {children}
    </section>
  );
}

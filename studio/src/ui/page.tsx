import type { ComponentProps, ReactNode } from 'react';

interface PageProps {
  readonly title: ReactNode;
  /** Shown next to the title, such as a status or an id. */
  readonly beside?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** A screen with title, actions and content. */
export function Page({ title, beside, actions, children }: PageProps) {
  return (
    <main id="main" className="flex min-h-0 flex-1 flex-col gap-4 overflow-auto p-5">
      <header className="flex flex-wrap items-center gap-x-2.5 gap-y-2">
        <h1 className="min-w-0 text-lg font-semibold tracking-tight wrap-anywhere">{title}</h1>
        {beside}
        <div className="ml-auto flex flex-wrap items-center gap-2">{actions}</div>
      </header>
      {children}
    </main>
  );
}

export function Card({ className = '', ...props }: ComponentProps<'section'>) {
  return <section {...props} className={`rounded-[10px] border border-line bg-panel ${className}`} />;
}

/** A card with a title. */
export function Panel({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Card className="flex flex-col gap-3 p-4">
      <h2 className="text-xs font-semibold text-ink-2">{title}</h2>
      {children}
    </Card>
  );
}

/** Names and values in two columns. */
export function Facts({ items }: { items: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className="grid grid-cols-[minmax(72px,max-content)_1fr] gap-x-3 gap-y-1">
      {items.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-ink-3">{name}</dt>
          <dd className="min-w-0 break-words">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

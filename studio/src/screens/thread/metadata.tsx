import { Json } from '../../ui/json.tsx';
import { Card, Facts } from '../../ui/page.tsx';
import type { Thread } from '../threads/threads-query.ts';

/** Metadata and times of a thread. */
export function Metadata({ thread: { created_at, updated_at, metadata } }: { thread: Thread }) {
  const { owner } = metadata as { owner?: unknown };
  return (
    <>
      <Card className="p-4">
        <Facts
          items={[
            ['Created', new Date(created_at).toLocaleString()],
            ['Updated', new Date(updated_at).toLocaleString()],
            ...(owner === undefined ? [] : [['Owner', String(owner)] as const]),
          ]}
        />
      </Card>
      <Json value={metadata} label="Metadata" />
    </>
  );
}

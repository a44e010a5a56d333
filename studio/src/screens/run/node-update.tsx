import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { type DiffLine, diffOf } from '../../ui/diff.ts';
import { DiffText } from '../../ui/diff-text.tsx';
import { Json } from '../../ui/json.tsx';
import { pastStateQuery } from '../chat/chat-queries.ts';
import { Part, useRegionName } from './part.tsx';
import type { DetailedStep } from './run-queries.ts';

/** Lines of a diff that are drawn. */
const MAX_LINES = 500;

/** What a node returned, compared with the state before it. */
export function NodeUpdate({ details, update }: { details: DetailedStep; update: unknown }) {
  const { thread_id, checkpoint_id, namespace } = details;
  const regionName = useRegionName('Changes of the state');
  const hasState = checkpoint_id !== null && namespace === '';
  const { data, isLoading } = useQuery({
    ...pastStateQuery(thread_id, checkpoint_id ?? ''),
    enabled: hasState,
  });
  if (update === null || update === undefined) return null;
  if (typeof update !== 'object' || Array.isArray(update))
    return (
      <Part title="Update">
        <Json value={update} label="Update" />
      </Part>
    );
  if (isLoading) return null;
  const before = (data?.values ?? {}) as Readonly<Record<string, unknown>>;
  return (
    <Part title="Update">
      <div
        role="region"
        aria-label={regionName}
        tabIndex={0}
        className="max-h-[60vh] overflow-auto rounded-lg bg-sunk py-2 font-mono text-xs/[19px] -outline-offset-2"
      >
        {Object.entries(update).map(([name, value]) => (
          <Channel key={name} name={name} before={before[name]} value={value} />
        ))}
      </div>
    </Part>
  );
}

function Channel({ name, before, value }: { name: string; before: unknown; value: unknown }) {
  const regionName = useRegionName(name);
  const lines = useMemo(() => linesOf(before, value), [before, value]);
  return (
    <section aria-label={regionName} className="pb-2">
      <h4 className="px-4 font-medium">{name}</h4>
      {lines.slice(0, MAX_LINES).map((line, n) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines of a comparison never move
        <DiffText key={n} line={line} />
      ))}
      {lines.length > MAX_LINES && <p className="px-4 text-ink-3">… {lines.length - MAX_LINES} more lines</p>}
    </section>
  );
}

/** What a node adds to a list, such as of messages, is no change of what the list had. */
function linesOf(before: unknown, value: unknown): readonly DiffLine[] {
  if (!Array.isArray(before)) return diffOf(before, value);
  const items = Array.isArray(value) ? value : [value];
  const known = new Set(before.map((item) => JSON.stringify(item)));
  return diffOf(
    [],
    items.filter((item) => !known.has(JSON.stringify(item))),
  );
}

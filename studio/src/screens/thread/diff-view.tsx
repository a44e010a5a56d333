import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useMemo } from 'react';
import { type DiffLine, diffOf } from '../../ui/diff.ts';
import { DiffText } from '../../ui/diff-text.tsx';
import { plural } from '../../ui/format.tsx';
import { Card } from '../../ui/page.tsx';
import { Failure, Loading } from '../../ui/states.tsx';
import { type CheckpointNode, isStateChannel, storageQuery, valuesQuery } from './thread-queries.ts';

/** Maximum number of lines drawn per channel, and of characters per line. */
const MAX_LINES = 2000;
const MAX_LENGTH = 2000;

interface DiffProps {
  readonly threadId: string;
  readonly node: CheckpointNode;
  /** The checkpoint to compare with. Null for the first of a thread. */
  readonly other: string | null;
  readonly title: ReactNode;
}

/** Diff of a checkpoint, channel by channel. Compared with its own parent, only changed channels are loaded. */
export function Diff({ threadId, node, other, title }: DiffProps) {
  const { checkpoint_id, parent_checkpoint_id, changed_channels } = node;
  const channels = other === parent_checkpoint_id ? changed_channels : null;
  const after = useQuery(valuesQuery(threadId, checkpoint_id, channels));
  const readsBefore = other !== null && !(other === parent_checkpoint_id && changed_channels === null);
  const before = useQuery({
    ...valuesQuery(threadId, other ?? '', channels),
    enabled: readsBefore && channels?.length !== 0,
  });
  const { data: storage } = useQuery(storageQuery(threadId));
  const error = after.error ?? before.error;
  const isReady = channels?.length === 0 || (after.data && (before.data || !readsBefore));
  const changed = useMemo(
    () => changedOf(before.data ?? {}, (channels?.length !== 0 && after.data) || {}),
    [before.data, after.data, channels],
  );
  const all = Object.keys(storage?.channel_values.by_channel ?? {}).filter(isStateChannel);
  const same = all.filter((channel) => !changed.some(([name]) => name === channel));
  return (
    <Card className="flex min-h-60 min-w-0 flex-col overflow-hidden">
      <header className="flex flex-wrap items-center gap-x-2 border-b border-line px-4 py-2.5">
        {title}
        {isReady && storage && (
          <span className="ml-auto text-ink-2">
            {changed.length} of {changed.length + same.length}{' '}
            {plural(changed.length + same.length, 'channel')} changed
          </span>
        )}
      </header>
      {error && <Failure error={error} retry={() => void Promise.all([after.refetch(), before.refetch()])} />}
      {!error && !isReady && <Loading what="the values" />}
      {!error && isReady && (
        <div
          role="region"
          aria-label="Changes"
          tabIndex={0}
          className="min-h-0 flex-1 overflow-auto py-3 font-mono text-xs/[19px] -outline-offset-2"
        >
          {changed.map(([name, from, to]) => (
            <Channel key={name} name={name} before={from} after={to} />
          ))}
          {same.map((name) => (
            <p key={name} className="px-4 text-ink-3">
              {name} <span className="pl-2">unchanged</span>
            </p>
          ))}
          {changed.length + same.length === 0 && <p className="px-4 text-ink-3">No values yet.</p>}
        </div>
      )}
    </Card>
  );
}

type Values = Readonly<Record<string, unknown>>;

function changedOf(
  before: Values,
  after: Values,
): (readonly [name: string, before: unknown, after: unknown])[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names
    .filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
    .map((name) => [name, before[name], after[name]] as const);
}

function Channel({ name, before, after }: { name: string; before: unknown; after: unknown }) {
  const lines = useMemo(() => diffOf(before, after), [before, after]);
  const isList = Array.isArray(after) && (before === undefined || Array.isArray(before));
  return (
    <section aria-label={name} className="mb-4">
      <h3 className="px-4 font-medium">
        {name}
        {isList && (
          <span className="pl-3 font-normal text-ink-3">
            {Array.isArray(before) ? before.length : 0} → {after.length}
          </span>
        )}
      </h3>
      {lines.slice(0, MAX_LINES).map((line, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines of a comparison never move
        <DiffText key={i} line={shortened(line)} />
      ))}
      {lines.length > MAX_LINES && <p className="px-4 text-ink-3">… {lines.length - MAX_LINES} more lines</p>}
    </section>
  );
}

function shortened({ kind, text }: DiffLine): DiffLine {
  if (text.length <= MAX_LENGTH) return { kind, text };
  return { kind, text: `${text.slice(0, MAX_LENGTH)} … (${text.length} characters)` };
}

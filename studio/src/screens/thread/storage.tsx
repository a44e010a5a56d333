import { useQuery } from '@tanstack/react-query';
import { byteSize, count } from '../../ui/format.tsx';
import { Card } from '../../ui/page.tsx';
import { Failure, Loading } from '../../ui/states.tsx';
import { storageQuery } from './thread-queries.ts';

type Row = readonly [name: string, count: number, bytes: number];

/** Storage used by a thread, largest first. */
export function Storage({ threadId }: { threadId: string }) {
  const { data, error, refetch } = useQuery(storageQuery(threadId));
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  if (!data) return <Loading what="sizes" />;
  const { checkpoints, pending_writes, channel_values, total_bytes } = data;
  const channels = Object.entries(channel_values.by_channel).map(
    ([name, { versions, bytes }]): Row => [name, versions, bytes],
  );
  channels.sort(([, , a], [, , b]) => b - a);
  const others: Row[] = [
    ['Checkpoints (without values)', checkpoints.count, checkpoints.bytes],
    ['Pending writes', pending_writes.count, pending_writes.bytes],
  ];
  return (
    <Card className="flex-none overflow-x-auto">
      <table className="w-full text-left">
        <thead className="text-xs text-ink-3">
          <tr className="border-b border-line">
            <th scope="col" className="px-4 py-2 font-normal">
              Channel
            </th>
            <th scope="col" className="px-4 py-2 text-right font-normal">
              Versions
            </th>
            <th scope="col" className="px-4 py-2 text-right font-normal">
              Size
            </th>
            <th scope="col" className="w-2/5 px-4 py-2 font-normal max-sm:hidden">
              Share
            </th>
          </tr>
        </thead>
        <tbody>
          {channels.map((row) => (
            <SizeRow key={row[0]} row={row} total={total_bytes} isChannel />
          ))}
          {others.map((row) => (
            <SizeRow key={row[0]} row={row} total={total_bytes} />
          ))}
        </tbody>
      </table>
    </Card>
  );
}

function SizeRow({ row: [name, number, bytes], total, isChannel = false }: SizeRowProps) {
  return (
    <tr className="border-b border-line last:border-0">
      <td className={`px-4 py-1.5 wrap-anywhere ${isChannel ? 'font-mono text-xs' : ''}`}>{name}</td>
      <td className="px-4 py-1.5 text-right text-ink-2">{count(number)}</td>
      <td className="px-4 py-1.5 text-right whitespace-nowrap">{byteSize(bytes)}</td>
      <td className="px-4 py-1.5 max-sm:hidden">
        <span
          aria-hidden="true"
          className="block h-1.5 min-w-px rounded-full bg-accent"
          style={{ width: `${total === 0 ? 0 : (100 * bytes) / total}%` }}
        />
      </td>
    </tr>
  );
}

interface SizeRowProps {
  readonly row: Row;
  readonly total: number;
  readonly isChannel?: boolean;
}

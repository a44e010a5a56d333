import { useSession } from '../../api/session.ts';
import { CopyButton } from '../../ui/copy-button.tsx';

/** The trace id of a run, as a link if the configuration has a tracing tool. */
export function Trace({ trace_id }: { trace_id: string }) {
  const { trace_url } = useSession();
  return (
    <li className="flex flex-wrap items-center gap-x-1">
      Trace{' '}
      {trace_url === null ? (
        <span className="font-mono text-xs text-ink">{trace_id}</span>
      ) : (
        <a
          href={trace_url.replaceAll('{trace_id}', trace_id)}
          target="_blank"
          rel="noreferrer"
          className="font-mono text-xs text-accent hover:underline"
        >
          {trace_id}
        </a>
      )}
      <CopyButton text={trace_id} what="trace id" className="-my-1" />
    </li>
  );
}

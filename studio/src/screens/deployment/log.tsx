import type { DeploymentLog, LogKind, Revision } from '../../api/control-plane.ts';
import { Failure, Loading } from '../../ui/states.tsx';
import { TailBox } from '../../ui/tail-box.tsx';
import { isOpen } from '../deployments/revision-state.ts';
import { MAX_LINES, useLog } from './use-log.ts';

const TONES: Readonly<Record<string, string>> = {
  WARNING: 'text-wait',
  ERROR: 'text-err',
  CRITICAL: 'text-err',
  DEBUG: 'text-ink-3',
};
const NOTHING = {
  build: 'No build output yet.',
  deploy: 'No output yet.',
} as const;

/** The build log or server log of a revision. Follows new lines while there may be any. */
export function Log({ revision, kind, name }: { revision: Revision; kind: LogKind; name: string }) {
  const { id: revision_id, deployment_id: id } = revision;
  // A finished build prints nothing more; a replaced revision may, until its runs have ended.
  const isOver = kind === 'build' ? !isOpen(revision) : !isOpen(revision) && revision.status !== 'DEPLOYED';
  const { data: lines, error, refetch } = useLog({ id, revision_id, kind, isOver });
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  if (!lines) return <Loading what="the log" />;
  const isCut = lines.length === MAX_LINES;
  return (
    <div className="flex flex-col gap-2">
      <TailBox
        label={kind === 'build' ? 'Build log' : 'Server log'}
        lines={lines}
        className="max-h-80 min-h-24"
      >
        {lines.length === 0 && <p className="text-ink-3">{NOTHING[kind]}</p>}
        <Lines lines={lines} />
      </TailBox>
      <p role="status" className="text-xs text-ink-3">
        {isOver ? 'The log is complete.' : 'Following new lines.'}
        {isCut &&
          ` Showing the newest ${MAX_LINES} lines. For all of them, run agent-server deployments logs ${name}`}
        {isCut && kind === 'build' && ' --type build'}
        {isCut && ` --revision ${revision.number}`}
      </p>
    </div>
  );
}

function Lines({ lines }: { lines: readonly DeploymentLog[] }) {
  return (
    <ol className="font-mono text-xs/[18px]">
      {lines.map(({ id, timestamp, level, message }) => (
        <li key={id} className="flex gap-3">
          <time dateTime={timestamp} className="flex-none text-ink-3">
            {new Date(timestamp).toLocaleTimeString([], { hour12: false })}
          </time>
          <span className={`min-w-0 flex-1 break-words whitespace-pre-wrap ${TONES[level] ?? ''}`}>
            {message}
          </span>
        </li>
      ))}
    </ol>
  );
}

import type { Revision } from '../../api/control-plane.ts';

/** A commit by the beginning of its hash and of its message; sources that were uploaded have none. */
export function Commit({ revision: { commit, source } }: { revision: Revision }) {
  if (!commit)
    return <span className="text-ink-3">{source === 'github' ? 'not known yet' : 'uploaded'}</span>;
  const [subject = ''] = (commit.message ?? '').split('\n');
  return (
    <span title={commit.sha} className="inline-flex max-w-full gap-2">
      <span className="font-mono text-xs leading-5">{commit.sha.slice(0, 8)}</span>
      <span className="min-w-0 truncate text-ink-2">{subject}</span>
    </span>
  );
}

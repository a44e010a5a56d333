import type { Revision } from '../../api/control-plane.ts';
import { isOpen } from './revision-state.ts';

/** A commit as short hash and subject. Uploaded sources have no commit. */
export function Commit({ revision }: { revision: Revision }) {
  const { commit, source } = revision;
  if (!commit) {
    const unknown = isOpen(revision) ? 'not known yet' : 'not known';
    return <span className="text-ink-3">{source === 'github' ? unknown : 'uploaded'}</span>;
  }
  const [subject = ''] = (commit.message ?? '').split('\n');
  return (
    <span title={commit.sha} className="inline-flex max-w-full gap-2">
      <span className="font-mono text-xs leading-5">{commit.sha.slice(0, 8)}</span>
      <span className="min-w-0 truncate text-ink-2">{subject}</span>
    </span>
  );
}

import { toJson } from '../../../core/json.ts';
import { columns, text } from '../../../db/columns.ts';
import { FOR_UPDATE, sql } from '../../../db/sql.ts';
import { NOW } from '../../../db/time.ts';
import type { Ownership } from './ownership.ts';
import { parseRevision, REVISION } from './rows.ts';

/**
 * Stores which commit a revision in progress is built from. One that a push or a poll has queued becomes `SKIPPED` if
 * the branch has not moved since the revision before: a repeated or late report must not undo a rollback. Manual
 * revisions do not count, because they do not follow the branch. Returns `undefined` if it was interrupted or deleted.
 */
export function recordCommit(
  owner: Ownership,
  revision_id: string,
  sha: string,
): Promise<'recorded' | 'skipped' | undefined> {
  return owner.transaction(async (tx) => {
    const row = await tx.get(sql`
      select ${REVISION} from deployment_revisions
      where revision_id = ${revision_id} and status = 'BUILDING' ${FOR_UPDATE}`);
    if (!row) return undefined;
    const { deployment_id, number, triggered_by, source_revision_config } = parseRevision(row);
    const commit = sql`source_revision_config ->> 'repo_commit_sha'`;
    const before = await tx.get(sql`
      select ${columns('deployment_revisions', 'status')}, ${commit} as ${text('sha')} from deployment_revisions
      where deployment_id = ${deployment_id} and number < ${number} and triggered_by <> 'manual'
        and status <> 'SKIPPED' and ${commit} is not null
      order by number desc limit 1`);
    const hasMoved = before?.status !== 'DEPLOYED' || before.sha !== sha;
    const isSkipped = !hasMoved && (triggered_by === 'push' || triggered_by === 'poll');
    await tx.run(sql`
      update deployment_revisions set status = ${isSkipped ? 'SKIPPED' : 'BUILDING'}, updated_at = ${NOW},
        source_revision_config = ${toJson({ ...source_revision_config, repo_commit_sha: sha })}
      where revision_id = ${revision_id}`);
    return isSkipped ? 'skipped' : 'recorded';
  });
}

import { toJson } from '../../../core/json.ts';
import type { Transaction } from '../../../db/db.ts';
import { list, sql } from '../../../db/sql.ts';
import { NOW } from '../../../db/time.ts';
import type {
  BuildStep,
  BuiltFolder,
  RevisionCommit,
  RevisionFailure,
  RevisionStatus,
  SourceRevisionConfig,
} from '../schemas/deployments.ts';

/** Columns that change together with the status. */
export interface RevisionChange {
  readonly failure?: RevisionFailure;
  readonly commit?: RevisionCommit | undefined;
  readonly source_revision_config?: SourceRevisionConfig;
  readonly build_id?: string;
  readonly built?: BuiltFolder;
  readonly build_steps?: readonly BuildStep[];
}

/** Part of a transaction. Returns false, with nothing changed, if the status is not one of `from`. */
export async function changeStatus(
  tx: Transaction,
  revision_id: string,
  from: readonly RevisionStatus[],
  to: RevisionStatus,
  { failure, commit, source_revision_config, build_id, built, build_steps }: RevisionChange,
): Promise<boolean> {
  const json = (value: unknown) => (value === undefined ? null : toJson(value));
  const changed = await tx.run(sql`
    update deployment_revisions set status = ${to}, updated_at = ${NOW},
      failure = coalesce(${json(failure)}, failure),
      commit_info = coalesce(${json(commit)}, commit_info),
      source_revision_config = coalesce(${json(source_revision_config)}, source_revision_config),
      build_id = coalesce(${build_id ?? null}, build_id),
      built = coalesce(${json(built)}, built),
      build_steps = coalesce(${json(build_steps)}, build_steps)
    where revision_id = ${revision_id} and status in ${list(from)}`);
  return changed > 0;
}

import { columns, number } from '../../../db/columns.ts';
import type { Db } from '../../../db/db.ts';
import { list, sql } from '../../../db/sql.ts';
import type { Ownership } from './ownership.ts';
import { IS_OPEN, lockDeployment, parseRevision, REVISION, type RevisionRow } from './rows.ts';

/** Which builds the revisions of a deployment still have on the disk. */
export function storedBuilds(db: Db, owner: Ownership) {
  return {
    /**
     * Forgets builds of a deployment beyond the newest `keep` deployed ones, except the active one and a canary.
     * Returns the ids of the remaining builds.
     */
    forgetBuilds: (deployment_id: string, keep: number): Promise<string[]> =>
      owner.transaction(async (tx) => {
        const rows = await tx.all(sql`
          select ${columns('deployment_revisions', 'build_id')}, max(number) as ${number('newest')},
            max(case when exists (select 1 from deployments
              where active_revision_id = deployment_revisions.revision_id
                or canary_revision_id = deployment_revisions.revision_id) then 1 else 0 end)
              as ${number('is_active')},
            max(case when ${IS_OPEN} then 1 else 0 end) as ${number('is_open')},
            max(case when status = 'DEPLOYED' then 1 else 0 end) as ${number('was_deployed')}
          from deployment_revisions
          where deployment_id = ${deployment_id} and build_id is not null
          group by build_id order by is_active desc, is_open desc, was_deployed desc, newest desc`);
        const stored = rows.filter(
          ({ is_active, is_open }, at) => at < keep || is_active === 1 || is_open === 1,
        );
        const ids = stored.flatMap(({ build_id }) => build_id ?? []);
        const forgotten = rows.flatMap(({ build_id }) => build_id ?? []).filter((id) => !ids.includes(id));
        if (forgotten.length > 0) {
          await tx.run(sql`update deployment_revisions set build_id = null, built = null
            where deployment_id = ${deployment_id} and build_id in ${list(forgotten)}`);
        }
        return ids;
      }),

    /** Deployed revisions whose builds are kept, newest first. */
    async listBuilt(deployment_id: string): Promise<RevisionRow[]> {
      const rows = await db.all(sql`
        select ${REVISION} from deployment_revisions
        where deployment_id = ${deployment_id} and status = 'DEPLOYED' and build_id is not null and built is not null
        order by number desc`);
      return rows.map(parseRevision);
    },

    /**
     * Forgets one build. Returns false, with nothing changed, if the active revision, a canary or an unfinished
     * revision uses it.
     */
    forgetBuild: (deployment_id: string, build_id: string): Promise<boolean> =>
      owner.transaction(async (tx) => {
        const deployment = await lockDeployment(tx, deployment_id);
        const ofBuild = sql`deployment_id = ${deployment_id} and build_id = ${build_id}`;
        const served = [deployment?.active_revision_id, deployment?.canary_revision_id].filter(
          (id) => id != null,
        );
        const isServed = served.length === 0 ? sql`1 = 0` : sql`revision_id in ${list(served)}`;
        const needed = await tx.get(sql`
          select ${columns('deployment_revisions', 'revision_id')} from deployment_revisions
          where ${ofBuild} and (${IS_OPEN} or ${isServed}) limit 1`);
        if (needed) return false;
        await tx.run(sql`update deployment_revisions set build_id = null, built = null where ${ofBuild}`);
        return true;
      }),

    /** Forgets builds that are no longer on the disk: all but `present`. */
    forgetMissingBuilds: (deployment_id: string, present: readonly string[]): Promise<void> =>
      owner.transaction(async (tx) => {
        const isPresent = present.length === 0 ? sql`1 = 0` : sql`build_id in ${list(present)}`;
        await tx.run(sql`
          update deployment_revisions set build_id = null, built = null
          where deployment_id = ${deployment_id} and build_id is not null and not (${isPresent})`);
      }),
  };
}

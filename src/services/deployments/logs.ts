import type { Actor } from '../../auth/actor.ts';
import { InvalidInput } from '../../core/errors.ts';
import type { DeploymentLogs, LogSearch } from '../../schemas/deployments.ts';
import type { DeploymentFiles } from '../../storage/deployments/files.ts';
import type { LoggedLine } from '../../storage/deployments/log-file.ts';
import type { LogKind } from '../../storage/deployments/log-files.ts';
import { type DeploymentDeps, requireDeployment } from './deployments.ts';
import type { RevisionService } from './revisions.ts';

export interface DeploymentLogDeps extends Pick<DeploymentDeps, 'deployments'> {
  readonly files: Pick<DeploymentFiles, 'log' | 'logged'>;
  readonly revisions: Pick<RevisionService, 'require'>;
}

export type DeploymentLogService = ReturnType<typeof deploymentLogService>;

/** Logs of builds, and of what deployments print. */
export function deploymentLogService({ deployments, files, revisions }: DeploymentLogDeps) {
  return {
    async ofRevision(
      actor: Actor,
      deployment_id: string,
      revision_id: string,
      kind: LogKind,
      search: LogSearch,
    ): Promise<DeploymentLogs> {
      const { deployment, revision } = await revisions.require(actor, deployment_id, revision_id);
      return pageOf(await files.log(deployment.name, revision.revision_id, kind).read(), search);
    },

    /** Of all revisions, in the order of time. */
    async ofDeployment(actor: Actor, deployment_id: string, search: LogSearch): Promise<DeploymentLogs> {
      const { name } = await requireDeployment(deployments, actor, deployment_id);
      const ids = (await files.logged(name, 'deploy')).sort();
      const logs = await Promise.all(
        ids.map(async (id) => {
          const lines = await files.log(name, id, 'deploy').read();
          return lines.map((line) => ({ ...line, id: `${id}:${line.id}` }));
        }),
      );
      const all = logs.flat().sort((one, other) => one.timestamp.localeCompare(other.timestamp));
      return pageOf(all, search);
    },
  };
}

function pageOf(lines: readonly LoggedLine[], search: LogSearch): DeploymentLogs {
  const { order, limit, level, query, start_time, end_time } = search;
  const from = offsetOf(search);
  const [since, until] = [start_time, end_time].map((time) => (time == null ? undefined : Date.parse(time)));
  const found = lines.filter(({ timestamp, message, ...line }) => {
    const at = Date.parse(timestamp);
    if (since !== undefined && at < since) return false;
    if (until !== undefined && at > until) return false;
    if (level != null && line.level !== level) return false;
    return query == null || message.toLowerCase().includes(query.toLowerCase());
  });
  const ordered = order === 'desc' ? found.reverse() : found;
  const next = from + limit;
  return {
    logs: ordered.slice(from, next),
    next_offset: next < ordered.length ? String(next) : null,
  };
}

function offsetOf({ offset }: LogSearch): number {
  if (offset == null || offset === '') return 0;
  const number = Number(offset);
  if (Number.isSafeInteger(number) && number >= 0) return number;
  throw new InvalidInput('offset: must be the next_offset of the page before');
}

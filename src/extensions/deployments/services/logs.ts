import type { Actor } from '../../../auth/actor.ts';
import { InvalidInput } from '../../../core/errors.ts';
import type { DeploymentLogs, LogSearch } from '../schemas/deployments.ts';
import type { DeploymentFiles } from '../storage/files.ts';
import type { LoggedLine } from '../storage/log-file.ts';
import type { LogKind } from '../storage/log-files.ts';
import { type DeploymentDeps, requireDeployment } from './control-plane.ts';
import type { RevisionService } from './revisions.ts';

export interface DeploymentLogDeps extends Pick<DeploymentDeps, 'deployments'> {
  readonly files: Pick<DeploymentFiles, 'log' | 'logged'>;
  readonly revisions: RevisionService;
}

export type DeploymentLogService = ReturnType<typeof deploymentLogService>;

/** Build logs, and the output of deployments. */
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
      const lines = await files.log(deployment.name, revision.revision_id, kind).read();
      return pageOf(matching(lines, search), search);
    },

    /** Output of all revisions, ordered by time. */
    async ofDeployment(actor: Actor, deployment_id: string, search: LogSearch): Promise<DeploymentLogs> {
      const { name } = await requireDeployment(deployments, actor, deployment_id);
      const since = timeOf(search.start_time) ?? 0;
      const logs = (await files.logged(name, 'deploy')).filter(({ written_at }) => written_at >= since);
      logs.sort((one, other) => other.written_at - one.written_at);
      const needed = search.order === 'desc' ? offsetOf(search) + search.limit : Number.POSITIVE_INFINITY;
      const found: LoggedLine[] = [];
      // Read one log at a time, and skip logs whose lines are all older than the page: logs may have megabytes.
      for (const { revision_id, written_at } of logs) {
        if (found.length > needed && countSince(found, written_at) > needed) break;
        const lines = await files.log(name, revision_id, 'deploy').read();
        for (const line of matching(lines, search)) found.push({ ...line, id: `${revision_id}:${line.id}` });
      }
      return pageOf(found.sort(byTime), search);
    },
  };
}

function matching(lines: readonly LoggedLine[], search: LogSearch): LoggedLine[] {
  const { level, query, start_time, end_time } = search;
  const [since, until] = [timeOf(start_time), timeOf(end_time)];
  return lines.filter(({ timestamp, message, ...line }) => {
    const at = Date.parse(timestamp);
    if (since !== undefined && at < since) return false;
    if (until !== undefined && at > until) return false;
    if (level != null && line.level !== level) return false;
    return query == null || message.toLowerCase().includes(query.toLowerCase());
  });
}

/** `found`: oldest first. */
function pageOf(found: readonly LoggedLine[], search: LogSearch): DeploymentLogs {
  const { order, limit } = search;
  const from = offsetOf(search);
  const next = from + limit;
  const ordered = order === 'desc' ? found.toReversed() : found;
  return {
    logs: ordered.slice(from, next),
    next_offset: next < ordered.length ? String(next) : null,
  };
}

/** Timestamps have one format, so they sort as text. */
function byTime({ timestamp: one }: LoggedLine, { timestamp: other }: LoggedLine): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/** Lines that are newer than `written_at`, ms since the epoch. */
function countSince(lines: readonly LoggedLine[], written_at: number): number {
  return lines.filter(({ timestamp }) => Date.parse(timestamp) > written_at).length;
}

function timeOf(time: string | null | undefined): number | undefined {
  return time == null ? undefined : Date.parse(time);
}

function offsetOf({ offset }: LogSearch): number {
  if (offset == null || offset === '') return 0;
  const number = Number(offset);
  if (Number.isSafeInteger(number) && number >= 0) return number;
  throw new InvalidInput('offset: must be the next_offset of the previous page');
}

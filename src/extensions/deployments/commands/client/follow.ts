import { oneLine } from '../../../../cli/ask/sanitize.ts';
import { sleep } from '../../../../core/timers.ts';
import type { Deployment, Revision } from '../../schemas/deployments.ts';
import type { ControlPlane } from './control-plane.ts';

const POLL_MS = 500;
const PAGE = 1000;
const FINAL: readonly string[] = [
  'DEPLOYED',
  'CREATE_FAILED',
  'BUILD_FAILED',
  'DEPLOY_FAILED',
  'SKIPPED',
  'INTERRUPTED',
];

export function isFinal({ status }: Pick<Revision, 'status'>): boolean {
  return FINAL.includes(status);
}

/**
 * The revision that the request with this answer has queued, not the newest, which may be that of another client.
 * `isWaiting`: once it is deployed or has failed.
 */
export async function queuedRevision(
  plane: ControlPlane,
  { id, latest_revision_id }: Pick<Deployment, 'id' | 'latest_revision_id'>,
  isWaiting: boolean,
  report: (line: string) => void,
): Promise<Revision> {
  if (latest_revision_id === null) throw new Error('the server did not queue a revision');
  return isWaiting
    ? await waitForRevision(plane, id, latest_revision_id, report)
    : await plane.revision(id, latest_revision_id);
}

/** Waits until a revision is deployed or has failed; reports each step as it begins. */
async function waitForRevision(
  plane: ControlPlane,
  id: string,
  revision_id: string,
  report: (line: string) => void,
): Promise<Revision> {
  let reported = 0;
  for (;;) {
    const revision = await plane.revision(id, revision_id);
    for (const { name } of revision.build_steps.slice(reported)) report(`  ${oneLine(name)} …`);
    reported = revision.build_steps.length;
    if (isFinal(revision)) return revision;
    await sleep(POLL_MS);
  }
}

/**
 * Prints a log; with `follow`, also new lines until a build has ended, or without end for a deployment's
 * output.
 */
export async function printLog(
  plane: ControlPlane,
  { id, revision_id, kind }: { id: string; revision_id: string; kind: 'build' | 'deploy' },
  follow: boolean,
  print: (line: string) => void,
): Promise<void> {
  // Pages by time, not by offset into the whole log, whose oldest lines are dropped.
  let start_time: string | undefined;
  let offset = 0;
  let newest: string | undefined;
  /** Printed lines with the newest timestamp: more may follow with the same one. */
  const printed = new Set<string>();
  for (;;) {
    const isOver = kind === 'build' && isFinal(await plane.revision(id, revision_id));
    const page = { order: 'asc', limit: PAGE, offset, start_time } as const;
    const { logs } = await plane.logs(id, revision_id, kind, page);
    for (const { id: line_id, timestamp, level, message } of logs) {
      if (printed.has(line_id)) continue;
      if (timestamp !== newest) printed.clear();
      newest = timestamp;
      printed.add(line_id);
      print(`${timestamp} ${level.padEnd(7)} ${oneLine(message)}`);
    }
    offset += logs.length;
    if (logs.length === PAGE) continue;
    [start_time, offset] = [newest, 0];
    if (!follow || isOver) return;
    await sleep(POLL_MS);
  }
}

/** Lines of a failed build that are printed. */
const LAST = 15;

/** Prints the end of a build's log: the output of the failing command. */
export async function printEnd(
  plane: ControlPlane,
  { id, revision_id }: { id: string; revision_id: string },
  print: (line: string) => void,
): Promise<void> {
  const { logs } = await plane.logs(id, revision_id, 'build', { order: 'desc', limit: LAST });
  for (const { message } of logs.toReversed()) print(`  ${oneLine(message)}`);
}

/** Status of a revision, with the reason if it failed. */
export function outcomeOf({ status, failure }: Revision): string {
  return failure ? `${status} at step "${failure.step}": ${failure.hint}` : status;
}

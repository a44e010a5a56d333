import { NotFound } from '../../../core/errors.ts';
import { isTemporary } from '../../../core/failure-class.ts';
import type { Ids } from '../../../core/ids.ts';
import type { Logger } from '../../../core/logger.ts';
import { timeoutSignal } from '../../../core/timers.ts';
import type { EventBus } from '../../../events/bus.ts';
import { Loop } from '../../../workers/loop.ts';
import { onRevisions } from '../revision-events.ts';
import { RevisionError } from '../services/builder.ts';
import type { RevisionRow } from '../storage/rows.ts';
import { cleanUp } from './clean-up.ts';
import { revisionProgress } from './progress.ts';
import { type RevisionWork, type WorkDeps, workOn } from './work.ts';

export interface QueueDeps extends WorkDeps {
  readonly bus: EventBus;
  readonly ids: Ids;
  readonly logger: Logger;
}

/** Poll interval, ms: the latency after a lost notification. */
const POLL_MS = 10_000;
/** How often a revision may be left unfinished because the server died or its storage failed. */
const MAX_TRIES = 3;
const CRASHED = {
  step: 'build',
  code: 'server_ended',
  hint: `The server stopped ${MAX_TRIES} times while it worked on this revision. Deploy it again if the revision was not the cause.`,
};

/** Not the project's fault: the server log has the reason. */
const INTERNAL = 'internal';

/** The row already has its final status. The message is for the log of the revision. */
class Ended extends Error {}
class Stopping extends Error {}

/** Builds and deploys queued revisions, one at a time: builds compete with the server for its cores. */
export function deploymentQueue({ bus, ids, logger, ...deps }: QueueDeps) {
  const { revisions } = deps;
  let current: { readonly revision_id: string; readonly control: AbortController } | undefined;
  let isStopping = false;
  /** Storage failed: a claimed revision may have no worker. */
  let isInDoubt = false;
  const loop = new Loop({ name: 'deployment queue', tick, logger });
  const subscription = onRevisions(bus, {
    queued: () => loop.wake(),
    interrupted(revision_id) {
      if (current?.revision_id === revision_id) current.control.abort(new Ended('Interrupted.'));
    },
  });

  async function tick(): Promise<number> {
    if (isStopping) return POLL_MS;
    if (isInDoubt) await revisions.recover(MAX_TRIES, unexpected());
    isInDoubt = true;
    const delay_ms = await workOnNext();
    isInDoubt = false;
    return delay_ms;
  }

  async function workOnNext(): Promise<number> {
    const revision = await revisions.claim();
    if (!revision) return POLL_MS;
    const control = new AbortController();
    current = { revision_id: revision.revision_id, control };
    if (isStopping) control.abort(new Stopping());
    try {
      await finish(revision, control, { ...deps, logger });
    } finally {
      current = undefined;
    }
    return 0;
  }

  return {
    /** Call before the first request: takes the deployments over, and requeues what an earlier process left unfinished. */
    takeOver: () => revisions.takeOver(ids.uuid4(), MAX_TRIES, CRASHED),
    start: () => loop.start(),
    /** Work in progress waits for the next start. */
    async stop(): Promise<void> {
      isStopping = true;
      subscription[Symbol.dispose]();
      current?.control.abort(new Stopping());
      await loop.stop();
    },
  };
}

type FinishDeps = Omit<QueueDeps, 'bus' | 'ids'>;

/** Works on a revision until it is deployed or has failed. Throws only storage errors. */
async function finish(revision: RevisionRow, control: AbortController, deps: FinishDeps): Promise<void> {
  const { deployments, revisions, files, clock, rules, logger } = deps;
  const { revision_id, deployment_id } = revision;
  const deployment = await deployments.find(deployment_id);
  if (!deployment) return;
  const secrets = await deployments.secrets(deployment_id);
  const progress = revisionProgress({
    clock,
    log: files.log(deployment.name, revision_id, 'build'),
    secrets: secrets.map(({ value }) => value),
    before: revision.build_steps,
    onChange: (steps) =>
      void revisions
        .setSteps(revision_id, steps)
        .catch((error: unknown) =>
          logger.warn('the steps of a build cannot be stored', { revision_id, error }),
        ),
  });
  const late = timeoutSignal(rules.build_timeout_seconds * 1000);
  const { signal: interrupted } = control;
  const signal = AbortSignal.any([interrupted, late]);
  const work: RevisionWork = {
    ...{ revision, deployment, secrets, progress, signal },
    end: (reason) => control.abort(new Ended(reason)),
  };
  try {
    await workOn(work, deps);
    progress.end('done');
  } catch (error) {
    // Not a failure of the build: the row stays as it is, and the work starts again once storage answers.
    if (isTemporary(error) && !signal.aborted) {
      progress.write('WARNING', 'The server cannot continue right now; it works on this revision again.');
      progress.end('interrupted');
      throw error;
    }
    const failure = late.aborted ? timedOut(rules, progress.steps.at(-1)?.name) : error;
    await end(work, deps, interrupted.aborted ? interrupted.reason : failure);
  }
  await revisions.setSteps(revision_id, progress.steps);
  await cleanUp(deployment, deps);
}

async function end(
  { revision, deployment, progress }: RevisionWork,
  { revisions, logger }: FinishDeps,
  error: unknown,
): Promise<void> {
  const { revision_id } = revision;
  if (error instanceof Stopping) {
    progress.write(
      'WARNING',
      'The server is stopping; it continues with this revision when it starts again.',
    );
    progress.end('interrupted');
    return revisions.release(revision_id);
  }
  if (error instanceof Ended || error instanceof NotFound) {
    progress.write('WARNING', error instanceof Ended ? error.message : 'Interrupted.');
    return progress.end('interrupted');
  }
  const known = error instanceof RevisionError;
  const { step, code, hint: reason } = known ? error : unexpected(progress.steps.at(-1)?.name);
  const hint = progress.mask(reason);
  const isOurs = code === INTERNAL;
  logger[isOurs ? 'error' : 'warn']('a revision failed', {
    ...{ deployment: deployment.name, revision_id, step, code },
    ...(isOurs ? { error } : { hint }),
  });
  progress.write('ERROR', `${hint} (${step}: ${code})`);
  progress.end('failed');
  const change = { failure: { step, code, hint }, build_steps: progress.steps };
  const isBuild = await revisions.transition(
    revision_id,
    ['AWAITING_BUILD', 'BUILDING'],
    'BUILD_FAILED',
    change,
  );
  if (!isBuild) {
    await revisions.transition(revision_id, ['AWAITING_DEPLOY', 'DEPLOYING'], 'DEPLOY_FAILED', change);
  }
}

function timedOut({ build_timeout_seconds }: WorkDeps['rules'], step = 'build'): RevisionError {
  return new RevisionError(
    step,
    'timeout',
    `The revision was not ready within ${build_timeout_seconds} seconds: its step "${step}" did not finish. Check whether that step hangs, or raise deployments.build_timeout_seconds.`,
  );
}

function unexpected(step = 'build') {
  return {
    step,
    code: INTERNAL,
    hint: 'An unexpected error occurred; see the server log for the reason.',
  };
}

import { type Clock, systemClock, timestamp } from '../../../core/clock.ts';
import { secretMask } from '../../../core/mask-secrets.ts';
import { timeoutSignal } from '../../../core/timers.ts';
import { BuildFailure, type BuildStep } from './build-failure.ts';
import { allowedEnvironment } from './process/environment.ts';
import { stopOf, stopped } from './process/stops.ts';
import type { BuildRequest, LogLine, RevisionSource } from './request.ts';

/** Shared by all steps of a build. */
export interface BuildContext {
  readonly request: BuildRequest;
  readonly clock: Clock;
  /** Aborts when the build is interrupted or reaches its time limit. */
  readonly signal: AbortSignal;
  /** Environment of git, and the base of the build's environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Writes a log line, with secrets masked. */
  log(step: BuildStep, level: LogLine['level'], message: string): void;
  /** Runs a part of a step. Anything it throws is logged and becomes a `BuildFailure`. */
  attempt<T>(name: BuildStep, doing: string, work: () => Promise<T>): Promise<T>;
  /** As `attempt`, and reports the start and the end of the step. */
  step<T>(name: BuildStep, doing: string, work: () => Promise<T>): Promise<T>;
}

export function buildContext(request: BuildRequest): BuildContext {
  const { clock = systemClock, limits, secrets, source } = request;
  const mask = secretMask([
    ...secrets,
    ...sourceSecrets(source),
    ...Object.values(request.build_env ?? {}).flatMap((value) => [value, ...value.split('\n')]),
  ]);
  const log: BuildContext['log'] = (step, level, message) =>
    request.log({ step, level, message: mask(message) });
  const signal = AbortSignal.any([request.signal, timeoutSignal(limits.seconds * 1000)]);
  const attempt: BuildContext['attempt'] = async (name, doing, work) => {
    try {
      if (signal.aborted) throw stopped(name, stopOf(signal), doing);
      return await work();
    } catch (error) {
      const failure = masked(asFailure(name, doing, error, signal), (text) =>
        mask(text).replaceAll(`${request.folder}/source/`, ''),
      );
      log(name, 'ERROR', `${failure.message} ${failure.hint}`);
      throw failure;
    }
  };
  return {
    request,
    clock,
    signal,
    env: allowedEnvironment(request.env),
    log,
    attempt,
    async step(name, doing, work) {
      const started_at = timestamp(clock.now());
      request.onStep({ name, started_at, status: 'running' });
      const end = (status: 'success' | 'error') =>
        request.onStep({ name, started_at, ended_at: timestamp(clock.now()), status });
      try {
        const result = await attempt(name, doing, work);
        end('success');
        return result;
      } catch (error) {
        end('error');
        throw error;
      }
    },
  };
}

function sourceSecrets(source: RevisionSource): string[] {
  if (source.kind !== 'git' || !source.credentials) return [];
  const { credentials } = source;
  if (credentials.kind === 'deploy_key') return credentials.private_key.split('\n');
  const { token } = credentials;
  // The token as git prints it in a URL, and as it is sent in a header.
  return [
    token,
    encodeURIComponent(token),
    Buffer.from(`${credentials.username ?? ''}:${token}`).toString('base64'),
  ];
}

function asFailure(step: BuildStep, doing: string, error: unknown, signal: AbortSignal): BuildFailure {
  if (error instanceof BuildFailure) return error;
  if (signal.aborted) return stopped(step, stopOf(signal), doing);
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    const hint = 'Delete old revisions, or have the operator free space.';
    return new BuildFailure(step, { code: 'disk_full', message: 'The disk of the server is full.', hint });
  }
  return new BuildFailure(
    step,
    {
      code: 'internal',
      // The error message contains paths of this machine: it goes only to the server log.
      message: `The server failed while ${doing}${code ? ` (${code})` : ''}.`,
      hint: 'Deploy again. If it fails again, ask the operator for the reason in the server log.',
    },
    { cause: error },
  );
}

function masked(failure: BuildFailure, mask: (text: string) => string): BuildFailure {
  const { step, code, hint, message, cause } = failure;
  if (mask(message) === message) return failure;
  return new BuildFailure(step, { code, hint, message: mask(message) }, { cause });
}

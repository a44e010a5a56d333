import { type Clock, timestamp } from '../../../core/clock.ts';
import { tryOrUndefined } from '../../../core/failure.ts';
import { secretMask } from '../../../core/mask-secrets.ts';
import type { BuildStep } from '../schemas/deployments.ts';
import type { LogFile } from '../storage/log-file.ts';

export interface ProgressDeps {
  readonly clock: Clock;
  readonly log: LogFile;
  /** Values to mask in the log. */
  readonly secrets: readonly string[];
  readonly before: readonly BuildStep[];
  readonly onChange: (steps: readonly BuildStep[]) => void;
}

export type Progress = ReturnType<typeof revisionProgress>;

/** Steps and log of a revision during its build. */
export function revisionProgress({ clock, log, secrets, before, onChange }: ProgressDeps) {
  const mask = secretMask(secrets);
  const steps: BuildStep[] = [...before];
  const now = () => timestamp(clock.now());

  function end(status: BuildStep['status']): void {
    const last = steps.at(-1);
    if (last?.status === 'running') steps[steps.length - 1] = { ...last, status, ended_at: now() };
  }

  function print(level: string, message: string): void {
    // On a full disk the build continues without its log.
    tryOrUndefined(() => log.write({ timestamp: now(), level, message }));
  }

  return {
    steps,
    /** Output of project code may contain secrets. */
    mask,
    /** Never throws. */
    write(level: string, message: string): void {
      for (const line of mask(message).split('\n')) print(level, line);
    },
    begin(name: string): void {
      end('done');
      steps.push({ name, status: 'running', started_at: now(), ended_at: null });
      print('INFO', `== ${name}`);
      onChange(steps);
    },
    end,
  };
}

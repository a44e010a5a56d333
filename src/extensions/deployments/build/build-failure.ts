/** Steps of a build, in order. */
export type BuildStep = 'source' | 'config' | 'install' | 'build';

export interface FailureText {
  /** Stable code of this kind of failure, for programs. */
  readonly code: string;
  /** What happened: one sentence. */
  readonly message: string;
  /** What the owner of the deployment can do: one sentence. */
  readonly hint: string;
}

/** Why a revision was not built. Message and hint are written for users and contain no secrets. */
export class BuildFailure extends Error {
  readonly step: BuildStep;
  readonly code: string;
  readonly hint: string;

  constructor(step: BuildStep, { code, message, hint }: FailureText, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'BuildFailure';
    this.step = step;
    this.code = code;
    this.hint = hint;
  }
}

/** A known failure, recognized by the output of a program. */
export interface KnownFailure {
  readonly pattern: RegExp;
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

/** Returns the first match; the order of the table matters. */
export function knownFailure(table: readonly KnownFailure[], output: string): FailureText | undefined {
  return table.find(({ pattern }) => pattern.test(output));
}

/** Operating system error code, such as `ENOENT`. */
export function errorCode(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | undefined)?.code;
}

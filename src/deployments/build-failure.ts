/** Steps of a build, in their order. */
export type BuildStep = 'source' | 'config' | 'install' | 'build';

interface FailureText {
  /** Stable name of this kind of failure, for programs. */
  readonly code: string;
  /** What happened: one sentence. */
  readonly message: string;
  /** What the owner of the deployment can do: one sentence. */
  readonly hint: string;
}

/** Why a revision was not built. Message and hint are written for users, and hold no secret. */
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

/** One row of a table that recognizes a failure by what a program printed. */
export interface KnownFailure {
  readonly pattern: RegExp;
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

/** The first row that matches; the order of a table matters. */
export function knownFailure(table: readonly KnownFailure[], output: string): FailureText | undefined {
  return table.find(({ pattern }) => pattern.test(output));
}

/** The code of an error of the operating system, such as `ENOENT`. */
export function errorCode(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | undefined)?.code;
}

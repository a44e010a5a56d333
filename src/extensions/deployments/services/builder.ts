import type { BuiltFolder, RevisionCommit } from '../schemas/deployments.ts';
import type { RepositoryCredentials } from './repository.ts';

/** What a revision is built from. */
export type BuildSource =
  | {
      readonly kind: 'git';
      readonly url: string;
      readonly ref: string | undefined;
      readonly credentials: RepositoryCredentials | undefined;
    }
  | { readonly kind: 'tarball'; readonly file: string };

export interface BuildLine {
  readonly step: string;
  readonly level: string;
  readonly message: string;
}

export interface BuildRequest {
  /** Belongs to this build alone; empty at the start. */
  readonly folder: string;
  /** Shared by the builds of a deployment. */
  readonly cache: string;
  /** Folder of an earlier build of the deployment, whose installed packages may be reused. */
  readonly previous: string | undefined;
  readonly source: BuildSource;
  /** Path of the configuration in the sources, such as `apps/agent/langgraph.json`. */
  readonly config_path: string;
  readonly install_command: string | undefined;
  readonly build_command: string | undefined;
  /** Redacted from the log. */
  readonly secrets: readonly string[];
  readonly log: (line: BuildLine) => void;
  readonly onStep: (step: string) => void;
  /** Reports the host keys with which the repository was reached over ssh. */
  readonly onHostKeys: (known_hosts: string) => Promise<void>;
  /** Reports the commit of a repository once it is fetched. */
  readonly onCommit: (sha: string) => Promise<void>;
  /** Aborts the build and kills its processes. */
  readonly signal: AbortSignal;
}

export interface Built extends BuiltFolder {
  readonly commit: RevisionCommit | undefined;
}

/** Builds a revision. Throws a `RevisionError` for failures that the user can fix. */
export type BuildRevision = (request: BuildRequest) => Promise<Built>;

/** A revision that cannot be built or served. `hint`: one sentence for the user, without secrets. */
export class RevisionError extends Error {
  readonly step: string;
  readonly code: string;
  readonly hint: string;

  constructor(step: string, code: string, hint: string, options?: { cause?: unknown }) {
    super(hint, options);
    this.name = 'RevisionError';
    this.step = step;
    this.code = code;
    this.hint = hint;
  }
}

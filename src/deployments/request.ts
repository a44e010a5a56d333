import type { Clock } from '../core/clock.ts';
import type { BuildStep } from './build-failure.ts';

export type GitCredentials =
  | {
      readonly kind: 'token';
      /** Default: the one that the service of the repository expects beside a token. */
      readonly username?: string | undefined;
      readonly token: string;
    }
  | {
      readonly kind: 'deploy_key';
      /** In OpenSSH's format, without a passphrase. */
      readonly private_key: string;
      /** Host keys that were pinned before. Without them the host's key is accepted, and returned. */
      readonly known_hosts?: string | undefined;
    };

export interface GitSource {
  readonly kind: 'git';
  /** `https://…`, `ssh://…`, `user@host:path`, or `file:///…`; never with a password in it. */
  readonly url: string;
  /** A branch, a tag, `refs/…`, a full commit id, or `HEAD` for the default branch. */
  readonly ref: string;
  readonly credentials?: GitCredentials | undefined;
}

export type RevisionSource =
  | GitSource
  /** A gzip-compressed tar archive. */
  | { readonly kind: 'tarball'; readonly file: string }
  /** A folder of this machine, which is copied. */
  | { readonly kind: 'folder'; readonly path: string };

/** From the most to the least that is kept from the code of the project. */
export const ISOLATIONS = ['bwrap', 'user', 'none'] as const;

/**
 * What keeps the code of a project from the server while it is built. `bwrap`: namespaces of its own. `user`: an
 * unprivileged user of its own. `none`: it may do what the server may do.
 */
export type Isolation = (typeof ISOLATIONS)[number];

export interface BuildLimits {
  readonly seconds: number;
  /** Resident memory of all processes of the build together. */
  readonly memory_bytes: number;
  /** What a build may add to the disk, and the size of a single file. */
  readonly disk_bytes: number;
  /** Processes of the build at one moment, each thread counted. */
  readonly tasks: number;
}

export interface LogLine {
  readonly step: BuildStep;
  readonly level: 'INFO' | 'WARNING' | 'ERROR';
  readonly message: string;
}

export interface StepState {
  readonly name: BuildStep;
  readonly started_at: string;
  readonly ended_at?: string;
  readonly status: 'running' | 'success' | 'error';
}

/**
 * Throws if the server must not connect to this host. Repositories over ssh are asked about as `https://host:port/`. If
 * it returns an address, git connects to that one only, whatever the name resolves to later.
 */
// biome-ignore lint/suspicious/noConfusingVoidType: most policies only throw
export type CheckAddress = (url: URL) => Promise<string | void>;

/** What reaching a repository needs. */
export interface GitAccess {
  readonly checkAddress: CheckAddress;
  readonly allow_file_urls?: boolean | undefined;
  /** PEM file of certificate authorities for https, instead of the system's. */
  readonly ca_file?: string | undefined;
  /** The server's environment: an allowlist of it reaches git and the build. */
  readonly env?: NodeJS.ProcessEnv | undefined;
}

export interface BuildRequest extends GitAccess {
  /** Where the revision is to be, absolute, with parents that all users may pass. The build owns `source`, `home`, `tmp`, `fetch` and `build.json` in it. */
  readonly folder: string;
  /**
   * Caches of package managers, absolute; shared by the revisions of one deployment, and used by one build at a time:
   * it is closed when that ends.
   */
  readonly cache: string;
  /**
   * If the server is root, parents of both folders from this one down are opened for passing through (mode 0711), so that
   * builds can run as another user. What else is in them must be closed by its own mode.
   */
  readonly open_from?: string | undefined;
  /** Folder of the revision that was built last, whose `node_modules` may be reused. */
  readonly previous?: string | undefined;
  readonly source: RevisionSource;
  /** `langgraph.json`, relative to the root of the repository. */
  readonly config_path: string;
  /** Runs at the root of the repository, instead of the package manager's install. */
  readonly install_command?: string | undefined;
  /** Runs in the folder of the configuration. */
  readonly build_command?: string | undefined;
  readonly ignore_scripts?: boolean | undefined;
  readonly limits: BuildLimits;
  readonly allow_submodules?: boolean | undefined;
  /** The ways to isolate a build that may be used; the first that works here is. Default: all of them. */
  readonly isolations?: readonly Isolation[] | undefined;
  /** Variables for `install_command`, `build_command` and install scripts. Their values are masked in the log. */
  readonly build_env?: Readonly<Record<string, string>> | undefined;
  readonly log: (line: LogLine) => void;
  readonly onStep: (step: StepState) => void;
  /** The repository was reached over ssh: the keys of its host, to pin, whatever becomes of the build. */
  readonly onHostKeys?: ((known_hosts: string) => Promise<void>) | undefined;
  /** Values that are masked in every line of the log, beside the credentials of the source. */
  readonly secrets: readonly string[];
  readonly signal: AbortSignal;
  readonly clock?: Clock | undefined;
}

export interface Commit {
  readonly sha: string;
  readonly author: string;
  /** The first line of its message. */
  readonly message: string;
  readonly time: string;
}

export type PackageManager = 'npm' | 'pnpm' | 'yarn' | 'bun' | 'none';

export interface BuiltRevision {
  /** Only of a git repository. */
  readonly commit?: Commit | undefined;
  /** Host keys to pin: only of a repository over ssh. */
  readonly known_hosts?: string | undefined;
  readonly package_manager: PackageManager;
  readonly reused_modules: boolean;
  /** Absolute folder of the source. */
  readonly root: string;
  /** Absolute. */
  readonly config_file: string;
  readonly isolation: Isolation;
}

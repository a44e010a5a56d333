import type { Clock } from '../../../core/clock.ts';
import type { BuildStep } from './build-failure.ts';

export type GitCredentials =
  | {
      readonly kind: 'token';
      /** User name. Default: the one that the git service expects with a token. */
      readonly username?: string | undefined;
      readonly token: string;
    }
  | {
      readonly kind: 'deploy_key';
      /** Private key in OpenSSH format, without a passphrase. */
      readonly private_key: string;
      /** Pinned host keys. Without them the host's key is accepted and returned (trust on first use). */
      readonly known_hosts?: string | undefined;
    };

export interface GitSource {
  readonly kind: 'git';
  /** `https://…`, `ssh://…`, `user@host:path`, or `file:///…`; never contains a password. */
  readonly url: string;
  /** A branch, a tag, `refs/…`, a full commit id, or `HEAD` for the default branch. */
  readonly ref: string;
  readonly credentials?: GitCredentials | undefined;
}

export type RevisionSource =
  | GitSource
  /** A gzip-compressed tar archive. */
  | { readonly kind: 'tarball'; readonly file: string }
  /** A local folder, which is copied. */
  | { readonly kind: 'folder'; readonly path: string };

/** Ordered from the strongest isolation to none. */
export const ISOLATIONS = ['bwrap', 'user', 'none'] as const;

/**
 * How the code of a project is isolated from the server during the build. `bwrap`: its own namespaces. `user`: its own
 * unprivileged user. `none`: it has the permissions of the server.
 */
export type Isolation = (typeof ISOLATIONS)[number];

/** `proxy`: a build reaches public addresses only, through a proxy. `shared`: it has the network of the server. */
export type NetworkIsolation = 'proxy' | 'shared';

export interface BuildLimits {
  readonly seconds: number;
  /** Resident memory of all processes of the build in total. */
  readonly memory_bytes: number;
  /** Maximum disk space that a build may add, and maximum size of a single file. */
  readonly disk_bytes: number;
  /** Maximum number of concurrent processes of the build, counting threads. */
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
 * Throws if the server must not connect to this host. ssh repositories are passed as `https://host:port/`. If it
 * returns an address, git connects only to that one, even if the name later resolves to another.
 */
// biome-ignore lint/suspicious/noConfusingVoidType: most policies only throw
export type CheckAddress = (url: URL) => Promise<string | void>;

/** What is needed to reach a repository. */
export interface GitAccess {
  readonly checkAddress: CheckAddress;
  readonly allow_file_urls?: boolean | undefined;
  /** PEM file of certificate authorities for https; replaces the system's. */
  readonly ca_file?: string | undefined;
  /** The server's environment; git and the build inherit an allowlist of it. */
  readonly env?: NodeJS.ProcessEnv | undefined;
}

export interface BuildRequest extends GitAccess {
  /**
   * Target folder of the revision, absolute; all users must be able to traverse its parents. The build owns `source`,
   * `home`, `tmp`, `fetch` and `build.json` in it.
   */
  readonly folder: string;
  /**
   * Folder of package manager caches, absolute. Revisions of one deployment share it, one build at a time; it is closed
   * to other users when a build ends.
   */
  readonly cache: string;
  /**
   * If the server is root, the parents of both folders, from this one down, get mode 0711 so that builds can run as
   * another user. Everything else in them must be protected by its own mode.
   */
  readonly open_from?: string | undefined;
  /** Folder of the previous revision, whose `node_modules` may be reused. */
  readonly previous?: string | undefined;
  readonly source: RevisionSource;
  /** Path of `langgraph.json`, relative to the root of the repository. */
  readonly config_path: string;
  /** Replaces the package manager's install; runs at the root of the repository. */
  readonly install_command?: string | undefined;
  /** Runs in the folder of the configuration. */
  readonly build_command?: string | undefined;
  readonly ignore_scripts?: boolean | undefined;
  readonly limits: BuildLimits;
  readonly allow_submodules?: boolean | undefined;
  /** Which addresses install scripts and build commands may connect to, where that can be limited; default: `checkAddress`. */
  readonly checkEgress?: CheckAddress | undefined;
  /** Allowed isolations; the first that works on this machine is used. Default: all of them. */
  readonly isolations?: readonly Isolation[] | undefined;
  /**
   * Environment variables for `install_command`, `build_command` and install scripts. Their values are masked in the
   * log.
   */
  readonly build_env?: Readonly<Record<string, string>> | undefined;
  readonly log: (line: LogLine) => void;
  readonly onStep: (step: StepState) => void;
  /** Called with the host keys to pin when the repository is reached over ssh, even if the build fails later. */
  readonly onHostKeys?: ((known_hosts: string) => Promise<void>) | undefined;
  /** Called with the commit of a repository once it is fetched, even if the build fails later. */
  readonly onCommit?: ((sha: string) => Promise<void>) | undefined;
  /** Values to mask in every log line, in addition to the credentials of the source. */
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
  /** Only for a git repository. */
  readonly commit?: Commit | undefined;
  /** Host keys to pin; only for a repository over ssh. */
  readonly known_hosts?: string | undefined;
  readonly package_manager: PackageManager;
  readonly reused_modules: boolean;
  /** Absolute folder of the source. */
  readonly root: string;
  /** Absolute. */
  readonly config_file: string;
  readonly isolation: Isolation;
  readonly network: NetworkIsolation;
}

import type { CreateApp, Foundation, FoundationOptions, RootPlace } from '../app/place.ts';
import type { Companion, ReplaceableApp } from '../app/replaceable-app.ts';
import type { Authenticate } from '../auth/authenticate.ts';
import type { Command } from '../cli/command.ts';
import type { Variable } from '../config/env.ts';
import type { Config, ConfigProblem, ConfigValues } from '../config/schema.ts';
import type { Section } from '../config/section.ts';
import type { LogFields } from '../core/logger.ts';
import type { MaskSecrets } from '../core/mask-secrets.ts';
import type { ServerConnection } from '../hosts/host/connection.ts';
import type { Asking } from '../hosts/pool/ask.ts';
import type { Dispatch } from '../http/dispatch.ts';
import type { Measure } from '../http/metrics/metrics.ts';
import type { ExtensionRoutes, RoutePlugin } from '../http/server-deps.ts';
import type { ServerWarning } from '../schemas/system-overview.ts';
import type { ServiceContext, Services } from '../services/all-services.ts';
import type { ServerSecretRepository } from '../storage/access/server-secrets.ts';
import type { OwnedData } from '../storage/owned-data.ts';
import type { Rider } from '../storage/riders.ts';
import type { ObserveAttempt } from '../workers/attempt-observer.ts';
import type { Sweep } from '../workers/maintenance.ts';
import type { RunObserver } from '../workers/run-observer.ts';

/**
 * An optional product: one folder with all that belongs to it. The server always loads this part of it: keep it to data and
 * lazy imports. The core knows it only through this interface, and no extension knows another.
 */
export interface Extension {
  /** That of its folder. */
  readonly name: string;
  /** Its keys of the configuration file. */
  readonly sections?: readonly Section[];
  /** Environment variables that set keys of its sections. */
  readonly variables?: readonly Variable[];
  /** What is wrong with values of its sections together with other keys. */
  checkTogether?(config: ConfigValues): readonly ConfigProblem[];
  /** Whether a server with this configuration, as written or complete, needs no graphs of its own. */
  servesWithoutGraphs?(config: object): boolean;
  isEnabled(config: Config): boolean;
  /** Body of the 404 for a path that it would serve if it were on; clients display it. `undefined`: not its path. */
  offAnswer?(path: string): object | undefined;
  /** Where its pages for people are, below the mount prefix; browsers that open the root are sent there. At most one has it. */
  page?(config: Config): string;
  /** What the log has about it when the server is ready. */
  readyFields?(config: Config): LogFields;
  /** What it owns in the database, also while it is off. */
  readonly data?: OwnedData;
  /** Further databases of the same schema that it has; none while it is off. */
  databases?(config: Config): Promise<readonly OwnedDatabase[]>;
  /** Files that it keeps next to a SQLite database, also while it is off; `undefined` with another engine. */
  files?(config: Config): Promise<OwnedFiles | undefined>;
  /** Its commands of the command line, in the order of the help; available even while it is off. */
  loadCommands?(): Promise<readonly Command[]>;
  /** The code of the project that it loads: for `check` and `dev`. */
  projectCode?(config: Config): readonly ProjectCode[];
  /** What its part in graph hosts is given, if it has something to do there: plain data. */
  givenToHosts?(config: Config): unknown;
  /** Loads its part in a graph host, which is given something. */
  loadInHost?(): Promise<HostPart>;
  /** Loads what serves. Not called while the extension is off. */
  load(): Promise<(core: Core) => Contribution | Promise<Contribution>>;
}

/** A database of an extension, for commands that examine or repair all of them. */
export interface OwnedDatabase {
  /** What it belongs to, such as `deployment`; commands print it before the name. */
  readonly kind: string;
  readonly name: string;
  readonly url: string;
  readonly max_connections: number;
}

/** Files of an extension, which a backup has in a folder next to it, named by the extension. */
export interface OwnedFiles {
  /**
   * Copies those that the database `backup` names, while servers run, to the folder `to`, which does not exist yet. Makes no
   * folder if it names none. Returns the names to report.
   */
  copy(backup: string, to: string): Promise<readonly string[]>;
  /**
   * Prepares the copies in the folder `from` to replace the files, and keeps servers away from these until it is disposed.
   * Throws `Unavailable` if copies are missing, damaged, or in use, and `Conflict` if there are other files without `force`.
   */
  hold(backup: string, from: string, force: boolean): Promise<HeldFiles>;
}

/** Files of a backup that are about to replace others. */
export interface HeldFiles extends Disposable {
  replace(): void;
}

/** The files of an extension. */
export interface NamedFiles extends OwnedFiles {
  /** Of the extension. */
  readonly name: string;
}

/** Code of the project that a configuration key names. */
export interface ProjectCode {
  /** The key, as `check` prints it. */
  readonly name: string;
  /** As written in the configuration. */
  readonly file: string;
  /** Whether a change needs a new start, so that `dev` watches the file. */
  readonly needs_restart: boolean;
  /** Loads it in this process. Rejects with the reason why that fails. */
  load(): Promise<unknown>;
}

/**
 * Loads the project's code in a graph host, and extends the connection by messages that begin with the name of the
 * extension. Rejects with the reason why the code cannot be loaded.
 */
export type HostPart = (host: HostCore, given: unknown) => Promise<void>;

/** What an extension may use of a graph host. */
export interface HostCore {
  /** Folder of the configuration. */
  readonly root: string;
  readonly server: ServerConnection;
}

/** What an extension may use of the core. */
export interface Core extends ServiceContext {
  readonly config: Config;
  /** Names of the extensions that are on. */
  readonly extensions: readonly string[];
  /** Project folder of the server, from which optional libraries are loaded. */
  readonly root: string;
  /** Masks secrets in what is sent elsewhere. */
  readonly mask: MaskSecrets;
  readonly services: Services;
  /** The processes that execute the project's code; `undefined` if it is this one. */
  readonly hosts: Asking | undefined;
  readonly apps: Apps;
  /** What the program that embeds the server gives to extensions, by their names. */
  readonly given: Readonly<Record<string, unknown>>;
  /** Of sessions in browsers. For the deployment at the root of a server they are those of the server. */
  readonly session_secrets: ServerSecretRepository;
}

export type { Companion, CreateApp, Foundation, ReplaceableApp, RootPlace };

/** For an extension that serves further apps in this process. */
export interface Apps {
  readonly create: CreateApp;
  openFoundation(config: Config, options: Omit<FoundationOptions, 'owned'>): Promise<Foundation>;
  /** Resolves the name of a host that a client has sent. */
  resolveHost(hostname: string, timeout_ms: number): Promise<readonly string[]>;
  /** What the configuration of an app has of its server's. */
  sectionsOfServer(server: Config): Readonly<Record<string, unknown>>;
  /** Where the server's pages for people are, below the mount prefix. */
  readonly page: string | undefined;
}

/** What an extension adds to the server. Disposed after the HTTP server, and before the database is closed. */
export interface Contribution extends Partial<AsyncDisposable> {
  /** Added after those of the core, below each prefix. A tag in their schemas has its `tag_description` there too. */
  readonly routes?: readonly RoutePlugin[];
  /** Called once. */
  readonly metrics?: Measure;
  /** Adds a way to authenticate to those that are `known`. */
  readonly authenticating?: (known: Authenticate) => Authenticate;
  /** See `ExtensionRoutes`. */
  readonly pageOfInvalid?: ExtensionRoutes['pageOfInvalid'];
  /** Takes part in the transactions of the queue. Runs carry its cargo under its name, which is that of the extension. */
  readonly rider?: Rider;
  readonly loops?: readonly BackgroundLoop[];
  /** Starts after the workers, and stops with them. */
  readonly companion?: Companion;
  /** Takes requests before the routes. At most one extension has it. */
  readonly dispatch?: Dispatch;
  /** At most one extension has it. */
  readonly attempt?: ObserveAttempt;
  /** Deletes rows that are not needed any more, while a process that does background work runs. */
  readonly sweeps?: readonly Sweep[];
  /** At most one extension has it. */
  readonly observer?: RunObserver | undefined;
  /** What the operator should know, for the system overview; asked once a minute at most. */
  warnings?(): Promise<readonly ServerWarning[]>;
}

/** Work that repeats while the server runs, in processes of its role; `server.role: all` is both. Stops after the workers. */
export interface BackgroundLoop {
  readonly role: 'api' | 'worker' | 'any';
  start(): void;
  /** Resolves when nothing of it is left to do. */
  stop(): Promise<void>;
}

import type { Config } from '../config/schema.ts';
import type { Clock } from '../core/clock.ts';
import type { Ids } from '../core/ids.ts';
import type { Logger } from '../core/logger.ts';
import type { LiveRuns } from '../events/writer.ts';
import type { KeyLookup } from '../storage/access/api-keys.ts';
import type { ServerSecretRepository } from '../storage/access/server-secrets.ts';
import type { OwnedData } from '../storage/owned-data.ts';
import type { QueueContext } from '../storage/queue/context.ts';
import type { ExecutorScope } from '../storage/queue/placement.ts';
import type { OpenStorage } from '../storage/storage.ts';
import type { OpenBus } from './bus.ts';
import type { ReplaceableApp } from './replaceable-app.ts';

/**
 * Database and bus of an app. Apps that share a foundation may serve side by side: each executes its own runs,
 * and streams of either follow the runs of both.
 */
export interface Foundation extends AsyncDisposable {
  readonly storage: OpenStorage;
  readonly bus: OpenBus;
  readonly live: LiveRuns;
}

export interface FoundationOptions {
  readonly logger: Logger;
  readonly clock: Clock;
  readonly worker_id: string;
  /** What extensions own in the database. */
  readonly owned: readonly OwnedData[];
  readonly placement?: QueueContext['placement'];
  /** Aborts waiting for an unreachable database. */
  readonly stop?: AbortSignal | undefined;
}

/** Context of a deployment's app, which shares its process, and perhaps its database, with others. */
export interface AppPlace {
  readonly foundation: Foundation;
  /** Whether this is the first app on the foundation: runs claimed there then belong to a dead process. */
  readonly is_first: boolean;
  /** What it is among the executors of the queue. */
  readonly executor_id: string;
  /** Which runs it claims; all if `undefined`. With `only` it does not fire crons either. */
  readonly scope?: () => ExecutorScope | undefined;
  /** Environment of the graph hosts. */
  readonly environment: NodeJS.ProcessEnv;
  /**
   * Project folder of the server, from which optional libraries are loaded: the code of a deployment stays in
   * its hosts.
   */
  readonly server_root: string;
  /** Keys of the server; admin keys are valid for its deployments too. */
  readonly administrators: KeyLookup;
  /** Token of the graphs of the deployment. */
  readonly graph_token: string;
  /** Set for the deployment that is also served at the root of the server. */
  readonly root: RootPlace | undefined;
  /** Aborts the creation, which then rejects: foreign code may never finish loading. */
  readonly stop: AbortSignal | undefined;
}

/** The root of a server, where its own routes coexist with those of the deployment. */
export interface RootPlace {
  /** Mount prefix of the server; empty without one. */
  readonly prefix: string;
  /** Secrets of the server: its sessions in browsers are valid for the deployment. */
  readonly secrets: ServerSecretRepository;
}

/** Opens an app at its place. */
export type CreateApp = (
  config: Config,
  options: { logger: Logger; clock: Clock; ids: Ids },
  place: AppPlace,
) => Promise<ReplaceableApp>;

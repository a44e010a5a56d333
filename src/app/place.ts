import type { Config } from '../config/schema.ts';
import type { Clock } from '../core/clock.ts';
import type { Ids } from '../core/ids.ts';
import type { Logger } from '../core/logger.ts';
import type { KeyLookup } from '../storage/access/api-keys.ts';
import type { ServerSecretRepository } from '../storage/access/server-secrets.ts';
import type { RevisionScope } from '../storage/queue/revision-rule.ts';
import type { Foundation } from './foundation.ts';
import type { ReplaceableApp } from './lifecycle.ts';

/** An app that shares its process, and perhaps its database, with others: that of a deployment. */
export interface AppPlace {
  readonly foundation: Foundation;
  /** No other app uses the foundation: what is claimed there is of a process that is gone. */
  readonly is_first: boolean;
  /** Of the deployment. */
  readonly revision_id: string;
  /** Which runs it claims now; all if `undefined`. With `only` it fires no crons either. */
  readonly scope?: () => RevisionScope | undefined;
  /** Environment of its graph hosts. */
  readonly environment: NodeJS.ProcessEnv;
  /** Project of the server, from which its own libraries are loaded: the code of a deployment stays in its hosts. */
  readonly server_root: string;
  /** Keys of the server, which are good for its deployments too. */
  readonly administrators: KeyLookup;
  /** Of the deployment that answers at the root of the server, too. */
  readonly root: RootPlace | undefined;
  /** Ends its creation, which then rejects: foreign code may never finish loading. */
  readonly stop: AbortSignal | undefined;
}

/** The root of a server, which has its own routes there beside those of the deployment. */
export interface RootPlace {
  /** Mount prefix of the server; empty without one. */
  readonly prefix: string;
  /** Of the server: a session of its Studio is one of the deployment. */
  readonly secrets: ServerSecretRepository;
}

/** Opens the app of a revision. */
export type CreateApp = (
  config: Config,
  options: { logger: Logger; clock: Clock; ids: Ids },
  place: AppPlace,
) => Promise<ReplaceableApp>;

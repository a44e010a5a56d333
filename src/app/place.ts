import type { KeyLookup } from '../storage/access/api-keys.ts';
import type { RevisionScope } from '../storage/queue/canary.ts';
import type { Foundation } from './foundation.ts';

/** An app that shares its process, and perhaps its database, with others: that of a deployment. */
export interface AppPlace {
  readonly foundation: Foundation;
  /** No other app uses the foundation: what is claimed there is of a process that is gone. */
  readonly is_first: boolean;
  /** Which runs it claims now; all if `undefined`. With `only` it fires no crons either. */
  readonly scope?: () => RevisionScope | undefined;
  /** Environment of its graph hosts. */
  readonly environment: NodeJS.ProcessEnv;
  /** Project of the server, from which its own libraries are loaded: the code of a deployment stays in its hosts. */
  readonly server_root: string;
  /** Keys of the server, which are good for its deployments too. */
  readonly administrators: KeyLookup;
  /** Ends its creation, which then rejects: foreign code may never finish loading. */
  readonly stop: AbortSignal | undefined;
}

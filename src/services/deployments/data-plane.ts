import type { DeploymentHealth, RevisionHealth } from '../../schemas/deployment-health.ts';
import type { BuiltFolder } from '../../schemas/deployments.ts';

/** A revision that is to serve. */
export interface ServedRevision {
  readonly deployment_id: string;
  readonly name: string;
  readonly revision_id: string;
  /** Folder of its build. */
  readonly folder: string;
  readonly built: BuiltFolder;
  /** Its build was deployed before: what depends on the code alone has been checked. */
  readonly was_checked: boolean;
  /** Environment of its graph hosts. */
  readonly secrets: Readonly<Record<string, string>>;
}

/** A revision that has processes or open requests. `since`: in this process of the server. */
export type LiveRevision = Omit<RevisionHealth, 'number'>;

/** What a deployment does at this moment. */
export interface DeploymentActivity {
  readonly revisions: readonly LiveRevision[];
  /** Of what serves; `undefined` while nothing does. */
  readonly queue: NonNullable<DeploymentHealth['queue']> | undefined;
  /** Why what serves is not healthy; `undefined` if it is. */
  readonly problem: string | undefined;
}

/** What serves the deployments: an app of each, behind `/deployments/<name>`. */
export interface DataPlane {
  /**
   * Starts a revision beside the one that serves, checks it, and sends it all new requests once `activate` resolves to
   * true. Until then the old one serves. Throws a `RevisionError` if it cannot serve. Returns false if `activate` did.
   */
  deploy(
    revision: ServedRevision,
    control: {
      readonly log: (level: string, message: string) => void;
      readonly onStep: (step: string) => void;
      readonly activate: () => Promise<boolean>;
      readonly signal: AbortSignal;
    },
  ): Promise<boolean>;
  /** Returns `undefined` if there is nothing of the deployment in this process. */
  activity(name: string): Promise<DeploymentActivity | undefined>;
  /** Folders of the builds that are started, serve, or finish what they began: their code may still be read. */
  foldersInUse(): ReadonlySet<string>;
  /** Stops serving a deployment; its files may be deleted then. */
  remove(deployment_id: string): Promise<void>;
}

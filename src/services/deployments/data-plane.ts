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
  /** Its share of new threads if it becomes a canary. */
  readonly canary_percent: number | null;
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

/** A revision that takes a share of what is new. */
export type CanaryRevision = Pick<ServedRevision, 'name' | 'revision_id'>;

/** What serves the deployments: an app of each, behind `/deployments/<name>`. */
export interface DataPlane {
  /**
   * Starts a revision beside the one that serves, checks it, and sends it all new requests once `activate` resolves to
   * `active`, or its share of them with `canary`. Until then the old one serves. Throws a `RevisionError` if it cannot
   * serve. Returns false if `activate` resolved to nothing.
   */
  deploy(
    revision: ServedRevision,
    control: {
      readonly log: (level: string, message: string) => void;
      readonly onStep: (step: string) => void;
      readonly activate: () => Promise<'active' | 'canary' | undefined>;
      readonly signal: AbortSignal;
    },
  ): Promise<boolean>;
  /** Returns `undefined` if there is nothing of the deployment in this process. */
  activity(name: string): Promise<DeploymentActivity | undefined>;
  /** Folders of the builds that are started, serve, or finish what they began: their code may still be read. */
  foldersInUse(): ReadonlySet<string>;
  /** The canary serves everything once `decide` resolves to true. Returns false if it did not, or no canary serves. */
  promote(canary: CanaryRevision, decide: () => Promise<boolean>): Promise<boolean>;
  /**
   * Once `decide` resolves to true the canary gets nothing new, and its runs go on in the active revision from their next
   * checkpoint. Returns what `decide` did.
   */
  endCanary(canary: CanaryRevision, decide: () => Promise<boolean>): Promise<boolean>;
  /** Whether its threads stay with their revision may have changed. */
  refresh(name: string): Promise<void>;
  /** Stops serving a deployment; its files may be deleted then. */
  remove(deployment_id: string): Promise<void>;
}

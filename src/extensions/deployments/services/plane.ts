import type { BuiltFolder } from '../schemas/deployments.ts';
import type { DeploymentHealth, RevisionHealth } from '../schemas/health.ts';

/** A revision to be served. */
export interface ServedRevision {
  readonly deployment_id: string;
  readonly name: string;
  readonly revision_id: string;
  /** Folder of its build. */
  readonly folder: string;
  readonly built: BuiltFolder;
  /** Whether this build was deployed before, so that checks of the code alone can be skipped. */
  readonly was_checked: boolean;
  /** Share of new threads if it becomes a canary, percent. */
  readonly canary_percent: number | null;
  /** Environment of its graph hosts. */
  readonly secrets: Readonly<Record<string, string>>;
}

/** A revision that has processes or open requests. `since`: in this process of the server. */
export type LiveRevision = Omit<RevisionHealth, 'number'>;

/** Current activity of a deployment in this process. */
export interface DeploymentActivity {
  readonly revisions: readonly LiveRevision[];
  /** Queue of the serving revision; `undefined` while none serves. */
  readonly queue: NonNullable<DeploymentHealth['queue']> | undefined;
  /** Why the serving revision is unhealthy; `undefined` if it is healthy. */
  readonly problem: string | undefined;
}

/** A revision that receives a share of new threads and stateless runs. */
export type CanaryRevision = Pick<ServedRevision, 'name' | 'revision_id'>;

/** Serves the deployments: one app for each, behind `/deployments/<name>`. */
export interface DataPlane {
  /**
   * Starts a revision alongside the active one and checks it. Once `activate` resolves to `active` it receives all new
   * requests, with `canary` its share of them; until then the old one serves. Throws a `RevisionError` if it cannot serve.
   * Returns false if `activate` resolves to `undefined`; calls it again if the database did not answer.
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
  /** Returns `undefined` if this process does not run the deployment. */
  activity(name: string): Promise<DeploymentActivity | undefined>;
  /** Folders of builds that are starting, serving or draining: their code may still be read. */
  foldersInUse(): ReadonlySet<string>;
  /**
   * The canary receives all new requests once `decide` resolves to true. Returns false if it does not, or if no
   * canary serves.
   */
  promote(canary: CanaryRevision, decide: () => Promise<boolean>): Promise<boolean>;
  /**
   * Once `decide` resolves to true the canary receives nothing new, and its runs continue in the active
   * revision from their next checkpoint. Returns the result of `decide`.
   */
  endCanary(canary: CanaryRevision, decide: () => Promise<boolean>): Promise<boolean>;
  /** Rereads whether threads stay with their revision. */
  refresh(name: string): Promise<void>;
  /** Stops serving a deployment; its files may be deleted afterwards. */
  remove(deployment_id: string): Promise<void>;
}

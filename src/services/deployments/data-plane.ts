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
  /** Stops serving a deployment; its files may be deleted then. */
  remove(deployment_id: string): Promise<void>;
}

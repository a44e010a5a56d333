import { deploymentEnvironment } from '../../../config/env.ts';
import type { Config } from '../../../config/schema.ts';
import type { Clock } from '../../../core/clock.ts';
import { ServerError } from '../../../core/errors.ts';
import type { Ids } from '../../../core/ids.ts';
import type { Logger } from '../../../core/logger.ts';
import { MountedServer } from '../../../http/dispatch.ts';
import type { KeyLookup } from '../../../storage/access/api-keys.ts';
import type { ExecutorScope } from '../../../storage/queue/placement.ts';
import type { Apps, Foundation, RootPlace } from '../../extension.ts';
import { placementBy, type RevisionRule } from '../canary.ts';
import type { ServedRevision } from '../services/plane.ts';
import type { DeploymentDatabases } from '../storage/databases.ts';
import type { DeploymentFiles } from '../storage/files.ts';
import { checkFailure, reasonOf } from './check-failure.ts';
import { liveRevisions, type Served } from './live-revisions.ts';
import { revisionLogger } from './log.ts';
import { deploymentConfig } from './project.ts';
import type { NamedInPath } from './serving.ts';

export interface SlotDeps {
  readonly server: Config;
  readonly apps: Apps;
  readonly files: DeploymentFiles;
  readonly databases: DeploymentDatabases;
  readonly administrators: KeyLookup;
  readonly is_protected: boolean;
  /** Whether the deployment is also served at the root. */
  readonly root: RootPlace | undefined;
  /** Returns the deployed revisions whose builds are kept; `undefined` if threads follow the active one. */
  readonly findPinned: () => Promise<readonly ServedRevision[] | undefined>;
  /** See `ServingDeps`. */
  readonly patience_ms?: number;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
}

/** The apps' view of the serving revisions. */
interface ServingRules {
  readonly scopeOf: (revision_id: string) => ExecutorScope | undefined;
  readonly rule: () => RevisionRule | undefined;
}

/** Apps of a deployment's revisions, which share its database. */
export class RevisionApps {
  readonly live: ReturnType<typeof liveRevisions>;
  readonly #name: string;
  readonly #deps: SlotDeps;
  readonly #rules: ServingRules;
  #foundation: Promise<Foundation> | undefined;
  #hasApps = false;

  constructor(name: string, deps: SlotDeps, rules: ServingRules) {
    this.#name = name;
    this.#deps = deps;
    this.#rules = rules;
    this.live = liveRevisions(deps.clock);
  }

  /** `undefined` before the first app. Rejects if the database cannot be opened. */
  get foundation(): Promise<Foundation> | undefined {
    return this.#foundation;
  }

  /** Creates the app of a revision without starting its work. Throws a `RevisionError`. `stop` ends it. */
  async open(revision: ServedRevision, stop: AbortSignal): Promise<Served> {
    const { revision_id } = revision;
    const tracked = this.live.track(revision);
    try {
      const { app, config } = await this.#create(revision, stop);
      const mount = new MountedServer(app.server);
      tracked.opened(app, mount);
      return { revision_id, folder: revision.folder, config, app, mount, tracked };
    } catch (error) {
      tracked[Symbol.dispose]();
      throw error;
    }
  }

  /** Stops an app; its runs get `grace_ms`. */
  async end({ app, tracked }: Served, grace_ms = 0): Promise<void> {
    using _ = tracked;
    await app.stop(grace_ms);
  }

  /** Throws a `RevisionError` if the project's configuration is invalid. */
  async configure(revision: ServedRevision): Promise<Config> {
    const { apps, server, databases, is_protected } = this.#deps;
    const database = await databases.open({ deployment_id: revision.deployment_id, name: this.#name });
    return deploymentConfig(revision, { ...apps, server, database, is_protected });
  }

  /**
   * See `ServingDeps`: a run's graph is that of the revision that executed it; anything else of a thread belongs to the
   * thread's revision. If the lookup fails, the request fails for the same reason in any app.
   */
  async revisionsFor({ thread_id, run_id }: NamedInPath): Promise<string[]> {
    try {
      const storage = (await this.#foundation)?.storage;
      const ofRun = run_id === undefined ? undefined : storage?.runs.executorOf(thread_id, run_id);
      const found = await Promise.all([ofRun, storage?.threads.executorOf(thread_id)]);
      return found.filter((revision_id) => revision_id !== undefined);
    } catch (error) {
      this.#deps.logger.warn('cannot read the revision of a thread', { thread_id, error });
      return [];
    }
  }

  /** Ids of the revisions that runs wait for by name; the active one may be among them. */
  async revisionsWaitedFor(): Promise<string[]> {
    return (await (await this.#foundation)?.storage.queue.executorsWaitedFor()) ?? [];
  }

  /** Runs and crons may now belong to another app. */
  async wakeWorkers(): Promise<void> {
    const foundation = await this.#foundation?.catch(() => undefined);
    foundation?.bus.bus.emit('run.ready');
    foundation?.bus.bus.emit('schedule.changed');
  }

  async #create(revision: ServedRevision, stop: AbortSignal): Promise<Pick<Served, 'app' | 'config'>> {
    const { server, files, apps, administrators, root, clock, ids, logger } = this.#deps;
    const { revision_id } = revision;
    const home = files.home(this.#name);
    const config = await this.configure(revision);
    const log = files.log(this.#name, revision_id, 'deploy');
    const foundation = await this.#openFoundation(config);
    const is_first = !this.#hasApps;
    this.#hasApps = true;
    // The same for all revisions: a request of an old one may reach the new one.
    const graph_token = await foundation.storage.secrets.getOrCreate('graph token', ids.secret());
    const secrets = [...Object.values(revision.secrets), graph_token];
    const options = { logger: revisionLogger(logger, { log, secrets, clock }), clock, ids };
    const environment = deploymentEnvironment({ ...config, env: withToken(config.env, graph_token) }, home);
    const scope = () => this.#rules.scopeOf(revision_id);
    const place = {
      ...{
        foundation,
        executor_id: revision_id,
        is_first,
        scope,
        environment,
        administrators,
        graph_token,
        root,
        stop,
      },
      server_root: server.root,
    };
    stop.throwIfAborted();
    const app = await apps.create(config, options, place).catch((error: Error) => {
      if (error instanceof ServerError) throw error;
      const what = `The project cannot be started: ${reasonOf(error)}`;
      const advice = 'Fix it, and deploy again.';
      throw checkFailure({ code: 'start_failed', what, advice, cause: error }, 'start');
    });
    return { config, app };
  }

  /** A failure to open the database fails only this revision; the next one retries. */
  #openFoundation(config: Config): Promise<Foundation> {
    const { apps, clock, ids, logger } = this.#deps;
    const placement = () => {
      const rule = this.#rules.rule();
      return rule && placementBy(rule);
    };
    const options = { logger, clock, worker_id: ids.uuid4(), placement };
    this.#foundation ??= apps.openFoundation(config, options).catch((error) => {
      this.#foundation = undefined;
      throw error;
    });
    return this.#foundation;
  }
}

/** Variables in which the SDK looks for a key, the first that is set. */
const SDK_KEYS = ['LANGGRAPH_API_KEY', 'LANGSMITH_API_KEY', 'LANGCHAIN_API_KEY'];

/** Gives the token to clients that graphs create, unless the project has a key for them. */
function withToken(env: Config['env'], graph_token: string): Config['env'] {
  return SDK_KEYS.some((name) => env[name] !== undefined) ? env : { ...env, LANGGRAPH_API_KEY: graph_token };
}

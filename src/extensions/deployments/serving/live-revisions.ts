import type { Config } from '../../../config/schema.ts';
import { type Clock, timestamp } from '../../../core/clock.ts';
import type { MountedServer } from '../../../http/dispatch.ts';
import type { ReplaceableApp } from '../../extension.ts';
import type { LiveRevision, ServedRevision } from '../services/plane.ts';
import { reasonOf } from './check-failure.ts';

/** State of a revision from its start until its last stream ends. */
export interface TrackedRevision extends Disposable {
  /** Its app executes runs and answers requests. */
  opened(app: ReplaceableApp, mount: MountedServer): void;
  enter(state: 'serving' | 'draining'): void;
  readonly isServing: boolean;
  /** Its processes have ended; it still answers requests that need none. */
  hostsEnded(): void;
}

/** An app that serves, or served, a revision. */
export interface Served {
  readonly revision_id: string;
  /** Folder of the build. */
  readonly folder: string;
  readonly config: Config;
  readonly app: ReplaceableApp;
  readonly mount: MountedServer;
  readonly tracked: TrackedRevision;
}

/** Revisions of a deployment with processes or open requests. */
export function liveRevisions(clock: Clock) {
  /** Revisions with the folders of their builds. */
  const all = new Map<() => LiveRevision, string>();
  const now = () => timestamp(clock.now());

  return {
    /** Tracks a starting revision until disposed. */
    track({ revision_id, folder }: Pick<ServedRevision, 'revision_id' | 'folder'>): TrackedRevision {
      let state: LiveRevision['state'] = 'starting';
      let since = now();
      let mount: MountedServer | undefined;
      let app: ReplaceableApp | undefined;
      let hasHosts = true;
      const view = (): LiveRevision => ({
        ...{ revision_id, state, since },
        runs: app?.engine.workers().active ?? 0,
        requests: mount?.open ?? 0,
        hosts: app && hasHosts ? hostsOf(app) : [],
      });
      all.set(view, folder);
      return {
        opened(openedApp, openedMount) {
          app = openedApp;
          mount = openedMount;
        },
        enter(next) {
          state = next;
          since = now();
        },
        get isServing() {
          return state === 'serving';
        },
        hostsEnded() {
          hasHosts = false;
        },
        [Symbol.dispose]: () => void all.delete(view),
      };
    },

    /** In start order. */
    list: (): LiveRevision[] => [...all.keys()].map((view) => view()),

    folders: (): string[] => [...all.values()],
  };
}

function hostsOf({ engine }: ReplaceableApp): LiveRevision['hosts'] {
  return engine.hosts().map(({ blockedBy: _, ...view }) => view);
}

/** Why an app is unhealthy, as a sentence; `undefined` if it is healthy. */
export async function problemOf({ engine, graphs }: ReplaceableApp): Promise<string | undefined> {
  for (const [graph_id, error] of graphs.loadErrors())
    return `The graph "${graph_id}" cannot be loaded: ${reasonOf(error)}`;
  if (!engine.hosts().some(({ ready }) => ready)) return 'None of its processes is ready.';
  const stuck = engine.stuck();
  if (stuck !== undefined) return stuck;
  return engine.ping().then(
    () => undefined,
    () => 'Its database does not respond.',
  );
}

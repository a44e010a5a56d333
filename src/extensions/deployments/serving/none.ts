import type { DataPlane } from '../services/plane.ts';

/** Data plane of a server without deployments. */
export const NO_DEPLOYMENTS: Omit<DataPlane, 'deploy' | 'foldersInUse'> = {
  activity: async () => undefined,
  promote: async () => false,
  refresh: async () => {},
  endCanary: async () => false,
  remove: async () => {},
};

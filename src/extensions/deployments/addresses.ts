import type { Config } from '../../config/schema.ts';
import { deploymentSettings } from './section.ts';

/** Path at which this server serves a deployment. */
export function pathOfDeployment({ http }: Pick<Config, 'http'>, name: string): string {
  return `${http.mount_prefix ?? ''}/deployments/${name}`;
}

/** The path shown to clients; the root for a deployment that is also served there. */
export function publicPath(config: Config, name: string): string {
  const { root } = deploymentSettings(config);
  return name === root ? (config.http.mount_prefix ?? '') : pathOfDeployment(config, name);
}

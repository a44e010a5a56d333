import { join, resolve } from 'node:path';
import { command } from '../package/command.ts';
import type { ContainerCommand, ContainerOptions, Engine } from './engine.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const IMAGE = 'agent-server:test';

interface ImageConfig {
  readonly Env: readonly string[];
  readonly Cmd: readonly string[];
  readonly WorkingDir: string;
  readonly Healthcheck: { readonly Test: readonly string[] };
}

/** Debian's buildah, as root, without an engine, over a base that `base.sh` makes. All of it lies in `folder`. */
export function buildah(folder: string): Engine {
  const flags = [
    '--root',
    join(folder, 'storage'),
    '--runroot',
    join(folder, 'run'),
    '--storage-driver',
    'vfs',
  ];
  const run = (...args: string[]) => command('buildah', [...flags, ...args], { cwd: ROOT });
  let rootFolder = '';
  let config: ImageConfig;

  /** buildah has no read-only root, so `enter.sh` does what a runtime would. */
  function entered({ uid, env, mounts }: ContainerOptions, args: readonly string[]): ContainerCommand {
    const volumes = Object.entries(mounts).map(([at, from]) => `${from}:${at}`);
    const variables = [...config.Env, ...Object.entries(env).map(([name, value]) => `${name}=${value}`)];
    const place = [rootFolder, String(uid), config.WorkingDir, ...volumes];
    const enter = ['--mount', join(import.meta.dirname, 'enter.sh'), ...place, '--', ...variables, ...args];
    return { name: 'unshare', args: enter };
  }

  return {
    async build() {
      await command(join(import.meta.dirname, 'base.sh'), [folder, 'buildah', ...flags], { cwd: ROOT });
      // Of Docker's format, because the other one has no health checks.
      await run('build', '--isolation', 'chroot', '--pull-never', '--format', 'docker', '--tag', IMAGE, '.');
      config = JSON.parse(await run('inspect', '--type', 'image', IMAGE)).Docker.config;
      const container = (await run('from', '--pull-never', IMAGE)).trim();
      rootFolder = (await run('mount', container)).trim();
    },
    container: (options, args = config.Cmd) => entered(options, args),
    healthCheck: async () => config.Healthcheck.Test[1] as string,
  };
}

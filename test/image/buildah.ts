import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { command } from '../package/command.ts';
import type { ContainerCommand, ContainerOptions, Engine, Image, ImageConfig } from './engine.ts';

type Run = (...args: string[]) => Promise<string>;

/** Debian's buildah, as root, without an engine, over a base that `base.sh` makes. All of it lies in `folder`. */
export async function buildah(folder: string): Promise<Engine> {
  const flags = [
    '--root',
    join(folder, 'storage'),
    '--runroot',
    join(folder, 'run'),
    '--storage-driver',
    'vfs',
  ];
  const run: Run = (...args) => command('buildah', [...flags, ...args], { cwd: folder });
  await command(join(import.meta.dirname, 'base.sh'), [folder, 'buildah', ...flags], { cwd: folder });
  return {
    async build(tag, context, dockerfile = 'Dockerfile') {
      // Of Docker's format, because the other one has no health checks.
      const format = ['--isolation', 'chroot', '--pull-never', '--format', 'docker'];
      await run('build', ...format, '--tag', tag, '--file', join(context, dockerfile), context);
      return await imageOf(run, tag, folder);
    },
  };
}

async function imageOf(run: Run, tag: string, folder: string): Promise<Image> {
  const config: ImageConfig = JSON.parse(await run('inspect', '--type', 'image', tag)).Docker.config;
  const container = (await run('from', '--pull-never', tag)).trim();
  const root = (await run('mount', container)).trim();
  return {
    config,
    container: (options, args = config.Cmd) => entered(root, config, options, args),
    async compressedBytes() {
      const copy = await mkdtemp(join(folder, 'pushed-'));
      await run('push', '--quiet', tag, `oci:${copy}`);
      const blobs = join(copy, 'blobs/sha256');
      const sizes = await Promise.all((await readdir(blobs)).map((name) => stat(join(blobs, name))));
      await rm(copy, { recursive: true });
      return sizes.reduce((sum, { size }) => sum + size, 0);
    },
  };
}

/** buildah has no read-only root, so `enter.sh` does what a runtime would. */
function entered(
  root: string,
  config: ImageConfig,
  { uid, env, mounts }: ContainerOptions,
  args: readonly string[],
): ContainerCommand {
  const volumes = Object.entries(mounts).map(([at, from]) => `${from}:${at}`);
  const variables = [...config.Env, ...Object.entries(env).map(([name, value]) => `${name}=${value}`)];
  const place = [root, String(uid), config.WorkingDir, ...volumes];
  const started = [...variables, ...(config.Entrypoint ?? []), ...args];
  return {
    name: 'unshare',
    args: ['--mount', join(import.meta.dirname, 'enter.sh'), ...place, '--', ...started],
  };
}

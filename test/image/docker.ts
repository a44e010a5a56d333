import { command } from '../package/command.ts';
import type { ContainerOptions, Engine } from './engine.ts';

/** A Docker engine; only where one runs. */
export function docker(): Engine {
  return {
    async build(tag, context, dockerfile = 'Dockerfile') {
      await command('docker', ['build', '--quiet', '--tag', tag, '--file', dockerfile, '.'], {
        cwd: context,
      });
      const format = '{{json .Config}}';
      const printed = await command('docker', ['inspect', '--format', format, tag], { cwd: '/' });
      return {
        config: JSON.parse(printed),
        container: (options, args = []) => ({
          name: 'docker',
          args: runArguments(options, tag, args),
        }),
        async compressedBytes() {
          const line = 'docker save "$0" | gzip | wc -c';
          return Number(await command('sh', ['-c', line, tag], { cwd: '/' }));
        },
      };
    },
  };
}

function runArguments(
  { uid, env, mounts }: ContainerOptions,
  image: string,
  args: readonly string[],
): string[] {
  const volumes = Object.entries(mounts).flatMap(([at, folder]) => [
    '--volume',
    `${folder}:${at}${at === '/data' ? '' : ':ro'}`,
  ]);
  const variables = Object.entries(env).flatMap(([name, value]) => ['--env', `${name}=${value}`]);
  const limits = ['--read-only', '--tmpfs', '/tmp', '--user', `${uid}:${uid}`, '--network', 'host'];
  return ['run', '--rm', ...limits, ...volumes, ...variables, image, ...args];
}

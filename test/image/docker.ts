import { resolve } from 'node:path';
import { command } from '../package/command.ts';
import type { ContainerOptions, Engine } from './engine.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const IMAGE = 'agent-server:test';

/** A Docker engine; only where one runs. */
export function docker(): Engine {
  return {
    async build() {
      await command('docker', ['build', '--quiet', '--tag', IMAGE, '.'], { cwd: ROOT });
    },
    container: (options, args = []) => ({ name: 'docker', args: runArguments(options, args) }),
    async healthCheck() {
      const format = '{{json .Config.Healthcheck.Test}}';
      const printed = await command('docker', ['inspect', '--format', format, IMAGE], { cwd: ROOT });
      return (JSON.parse(printed) as string[])[1] as string;
    },
  };
}

function runArguments({ uid, env, mounts }: ContainerOptions, args: readonly string[]): string[] {
  const volumes = Object.entries(mounts).flatMap(([at, folder]) => [
    '--volume',
    `${folder}:${at}${at === '/data' ? '' : ':ro'}`,
  ]);
  const variables = Object.entries(env).flatMap(([name, value]) => ['--env', `${name}=${value}`]);
  const limits = ['--read-only', '--tmpfs', '/tmp', '--user', `${uid}:${uid}`, '--network', 'host'];
  return ['run', '--rm', ...limits, ...volumes, ...variables, IMAGE, ...args];
}

import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { inject } from 'vitest';
import { command } from './command.ts';
import type { InstalledProject } from './project.ts';
import type { Program } from './setup.ts';

/** How this machine reaches the registry. All else of its environment would hide what an installation needs. */
const REGISTRY = /^(npm_config_(registry|cafile)|https?_proxy|no_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT_\w+)$/i;

/** `root` on a machine that has nothing but Node, a shell and one package manager: no compiler, no Python, no `cp`. `more`: other variables. */
export async function bareMachine(
  root: string,
  node: 20 | 22 | 24,
  program: Program,
  more: NodeJS.ProcessEnv = {},
): Promise<InstalledProject> {
  const shell = join(inject('programs'), 'shell');
  await mkdir(shell, { recursive: true });
  await symlink('/bin/sh', join(shell, 'sh')).catch(() => {});
  const folders = [join(inject('programs'), `node-${node}`), join(inject('programs'), program), shell];
  const env = {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => REGISTRY.test(name))),
    PATH: folders.join(':'),
    HOME: inject('home'),
    // A registry that hangs is asked again sooner than by default.
    npm_config_fetch_timeout: '30000',
    YARN_ENABLE_TELEMETRY: '0',
    ...more,
  };
  const run = (line: string) => command('sh', ['-c', `{ ${line}; } 2>&1`], { cwd: root, env });
  return { root, env, run };
}

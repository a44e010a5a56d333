import { BuildFailure } from '../build-failure.ts';
import { type CommandEnd, runCommand } from '../process/command.ts';
import { MARKER } from '../process/end-processes.ts';
import { allowedEnvironment } from '../process/environment.ts';
import { findOnPath } from '../process/tools.ts';
import type { BuildLimits, GitAccess, GitSource } from '../request.ts';
import { checkedAddress, type GitAddress } from './address.ts';
import { type GitSignIn, prepareSignIn } from './credentials.ts';
import { gitFailure } from './failures.ts';

/** A repository that commands of git can be run against. */
export interface GitRemote {
  readonly address: GitAddress;
  readonly signIn: GitSignIn;
  /** Runs git; throws the `BuildFailure` of what went wrong. Returns stdout. */
  run(args: readonly string[], options?: { cwd?: string; logs?: boolean }): Promise<string>;
}

export interface RemoteOptions {
  /** For keys and programs of this command; removed by the caller. */
  readonly folder: string;
  /** What is measured against the disk limit. */
  readonly measured: readonly string[];
  readonly limits: Pick<BuildLimits, 'memory_bytes' | 'disk_bytes'>;
  readonly signal: AbortSignal;
  readonly onLine?: (line: string) => void;
}

/** Nothing of the repository is executed, nothing is asked, no other host is followed. */
const CONFIG = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.askPass=',
  'credential.helper=',
  'http.followRedirects=false',
  // A transfer below 1,000 bytes a second for 60 seconds has stalled.
  'http.lowSpeedLimit=1000',
  'http.lowSpeedTime=60',
  'protocol.version=2',
  'submodule.recurse=false',
  'fetch.recurseSubmodules=false',
  'gc.auto=0',
  'advice.detachedHead=false',
  'init.defaultBranch=main',
];

export async function gitRemote(
  source: GitSource,
  access: GitAccess,
  options: RemoteOptions,
): Promise<GitRemote> {
  const { memory_bytes, disk_bytes } = options.limits;
  const address = await checkedAddress(source.url, access);
  const env = allowedEnvironment(access.env);
  await requireTools(address, env['PATH'] as string);
  const signIn = await prepareSignIn(options.folder, address, source);
  const ca_file = access.ca_file ?? access.env?.['GIT_SSL_CAINFO'];
  const own = {
    ...env,
    ...signIn.env,
    ...(ca_file && { GIT_SSL_CAINFO: ca_file }),
    GIT_ALLOW_PROTOCOL: address.protocol,
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_LFS_SKIP_SMUDGE: '1',
    HOME: options.folder,
    TMPDIR: options.folder,
    LC_ALL: 'C',
    [MARKER]: options.folder,
  };
  const config = [...CONFIG, ...pinnedAddress(address)].flatMap((setting) => ['-c', setting]);
  return {
    address,
    signIn,
    async run(args, { cwd, logs = false } = {}) {
      const end: CommandEnd = await runCommand({
        argv: ['git', ...config, ...args],
        cwd: cwd ?? options.folder,
        env: own,
        limits: { memory_bytes, disk_bytes, folders: options.measured, disk_before: 0 },
        signal: options.signal,
        pipe: signIn.pipe,
        captures: !logs,
        onLine: options.onLine ?? (() => {}),
      });
      if (end.code !== 0 || end.stopped) throw gitFailure(end);
      return end.stdout;
    },
  };
}

/** libcurl connects to this address instead of asking DNS again, which might answer differently this time. */
function pinnedAddress({ protocol, hostname, port, pinned }: GitAddress): string[] {
  if (pinned === undefined || protocol !== 'https') return [];
  const address = pinned.includes(':') ? `[${pinned}]` : pinned;
  return [`http.curloptResolve=${hostname}:${port}:${address}`];
}

async function requireTools({ protocol }: GitAddress, path: string): Promise<void> {
  for (const tool of protocol === 'ssh' ? ['git', 'ssh'] : ['git']) {
    if (await findOnPath(tool, path)) continue;
    throw new BuildFailure('source', {
      code: 'tool_missing',
      message: `The server has no ${tool}, which repositories over ${protocol} need.`,
      hint: `Have the operator of the server install ${tool}, or deploy a tarball.`,
    });
  }
}

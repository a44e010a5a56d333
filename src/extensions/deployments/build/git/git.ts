import { BuildFailure } from '../build-failure.ts';
import { type CommandEnd, runCommand } from '../process/command.ts';
import { MARKER } from '../process/end-processes.ts';
import { allowedEnvironment } from '../process/environment.ts';
import { findOnPath } from '../process/tools.ts';
import type { BuildLimits, GitAccess, GitSource } from '../request.ts';
import { checkedAddress, type GitAddress } from './address.ts';
import { type GitSignIn, prepareSignIn } from './credentials.ts';
import { gitFailure } from './failures.ts';

/** A remote repository and how to run git against it. */
export interface GitRemote {
  readonly address: GitAddress;
  readonly signIn: GitSignIn;
  /** Runs git and returns its stdout. Throws a `BuildFailure`. */
  run(args: readonly string[], options?: { cwd?: string; logs?: boolean }): Promise<string>;
}

export interface RemoteOptions {
  /** Folder for the keys and programs of this command; the caller removes it. */
  readonly folder: string;
  /** Folders whose size counts against the disk limit. */
  readonly measured: readonly string[];
  readonly limits: Pick<BuildLimits, 'memory_bytes' | 'disk_bytes'>;
  readonly signal: AbortSignal;
  readonly onLine?: (line: string) => void;
}

/** git executes no code of the repository, never prompts, and follows no redirect. */
const CONFIG = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.askPass=',
  'credential.helper=',
  'http.followRedirects=false',
  // Abort a stalled transfer: less than 1,000 bytes a second for 60 seconds.
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

/** Makes libcurl connect to the checked address: a second DNS lookup might return another one. */
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
      message: `The server lacks ${tool}, which repositories over ${protocol} require.`,
      hint: `Have the operator of the server install ${tool}, or deploy a tarball.`,
    });
  }
}

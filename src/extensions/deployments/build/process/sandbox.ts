import { realpath } from 'node:fs/promises';
import { timeoutSignal } from '../../../../core/timers.ts';
import { BuildFailure } from '../build-failure.ts';
import { type CheckAddress, ISOLATIONS, type Isolation, type NetworkIsolation } from '../request.ts';
import { runCommand } from './command.ts';
import { BRIDGE, EGRESS_FOLDER, EGRESS_SOCKET, type Egress, openEgress } from './egress.ts';
import { endUser } from './end-processes.ts';
import { findOnPath, foldersOfTool } from './tools.ts';
import { upstreamProxy } from './upstream-proxy.ts';
import { type BuildUser, takeUser } from './users.ts';

/** Starts commands of the project with little access to this machine. */
export interface Sandbox extends Disposable {
  readonly isolation: Isolation;
  /** `proxy`: a network of its own, from which only a proxy leads to permitted addresses. */
  readonly network: NetworkIsolation;
  /** Variables that commands need in it. */
  readonly env: Readonly<Record<string, string>>;
  /** User that the commands run as; default: the server's. */
  readonly uid?: number | undefined;
  /** Describes what is isolated and what is not. */
  readonly note: string;
  wrap(argv: readonly string[], cwd: string): Promise<readonly string[]>;
}

export interface SandboxOptions {
  readonly allowed?: readonly Isolation[] | undefined;
  /** Builds with the same key run as the same user if the server is root. */
  readonly key: string;
  /** The only writable folders. */
  readonly writable: readonly string[];
  /** Mounted as `/tmp`; one of `writable`. */
  readonly tmp: string;
  /** Readable files and folders besides the system's programs. */
  readonly readable: readonly string[];
  /** The build's own environment, in which the project has a say. */
  readonly env: Readonly<Record<string, string>>;
  /** Where programs are, and through which proxy the server must go. */
  readonly server_env: Readonly<Record<string, string>>;
  /** Which addresses the build may connect to, if it gets a network of its own. */
  readonly checkEgress: CheckAddress;
  /** Called when the build may not connect to a host. */
  readonly onRefused: (host: string, reason: string) => void;
  /** Makes a user the owner of the writable folders. */
  readonly handOver: (uid: number) => Promise<void>;
}

/** Returns the first allowed isolation that works on this machine. Throws a `BuildFailure` if none does. */
export async function openSandbox(options: SandboxOptions): Promise<Sandbox> {
  const allowed = options.allowed ?? ISOLATIONS;
  const user = await takeUser(options.key);
  let egress: Egress | undefined;
  const release = () => {
    egress?.[Symbol.dispose]();
    user?.[Symbol.dispose]();
  };
  try {
    if (user) await endUser(user.uid);
    egress = allowed.includes('bwrap') ? await egressOf(options) : undefined;
    for (const candidate of await candidates(options, { user, egress })) {
      if (!allowed.includes(candidate.isolation)) continue;
      // Without its capabilities, even root cannot enter the folder of another user.
      if (process.getuid?.() === 0) await options.handOver(candidate.uid ?? 0);
      if (await canRun(candidate, options)) return { ...candidate, [Symbol.dispose]: release };
    }
  } catch (error) {
    release();
    throw error;
  }
  release();
  throw new BuildFailure('install', {
    code: 'isolation_unavailable',
    message: `This machine cannot isolate the build with ${allowed.join(' or ')}.`,
    hint: 'Install bubblewrap on the server, or have its operator allow builds that are not isolated.',
  });
}

async function egressOf({ server_env, checkEgress, onRefused }: SandboxOptions): Promise<Egress | undefined> {
  const upstream = upstreamProxy(server_env);
  return upstream && openEgress({ checkAddress: checkEgress, onRefused, upstream });
}

type Candidate = Omit<Sandbox, typeof Symbol.dispose>;

async function candidates(
  options: SandboxOptions,
  { user, egress }: { readonly user: BuildUser | undefined; readonly egress: Egress | undefined },
): Promise<Candidate[]> {
  const path = options.server_env['PATH'] ?? '';
  const bwrap = await findOnPath('bwrap', path);
  const setpriv = await findOnPath('setpriv', path);
  const shared = { network: 'shared', env: {} } as const;
  const found: Candidate[] = [];
  for (const proxy of bwrap ? [egress, undefined] : []) {
    const wrap = async (argv: readonly string[], cwd: string) => [
      ...(await bwrapArguments(bwrap as string, options, { cwd, proxy })),
      ...(proxy ? [process.execPath, '-e', BRIDGE, '--', EGRESS_SOCKET] : []),
      ...argv,
    ];
    const seen = 'The build runs in bubblewrap: it sees its own files, the programs of this machine, and';
    const network = proxy ? 'public addresses through a proxy.' : 'the network of the server.';
    const parts = proxy ? ({ network: 'proxy', env: proxy.env } as const) : shared;
    const sandbox = { isolation: 'bwrap', note: `${seen} ${network}`, wrap, ...parts } as const;
    if (user) found.push({ ...sandbox, uid: user.uid });
    // If only root may enter the folders, the namespaces alone must isolate the build.
    found.push(sandbox);
  }
  const without = bwrap ? 'bubblewrap does not work here' : 'bubblewrap is not installed';
  const noPrivileges = setpriv ? [setpriv, '--no-new-privs', '--'] : [];
  const wrap = async (argv: readonly string[]) => [...noPrivileges, ...argv];
  if (user) {
    const note = `Partly isolated, because ${without}: the build runs as user ${user.uid}, which cannot read files that only the server may read, but sees other files of this machine, its processes, and the network.`;
    found.push({ isolation: 'user', uid: user.uid, note, wrap, ...shared });
  }
  const note = `Not isolated, because ${without}: install scripts and build commands may read and change whatever the server may, such as its database and its keys.`;
  return [...found, { isolation: 'none', note, wrap, ...shared }];
}

/** Long enough for a busy machine to start Node, ms. */
const PROBE_MS = 20_000;

/**
 * Tests the sandbox by an attempt: namespaces may be forbidden, user ids unmapped, or folders closed to other users.
 */
async function canRun(sandbox: Candidate, { env, writable }: SandboxOptions): Promise<boolean> {
  if (sandbox.isolation === 'none') return true;
  const cwd = writable[0] as string;
  const script = 'for folder; do test -w "$folder" || exit 1; done; exec node --version';
  try {
    const { code } = await runCommand({
      argv: await sandbox.wrap(['/bin/sh', '-c', script, 'sh', ...writable], cwd),
      cwd,
      env: { ...env, ...sandbox.env },
      uid: sandbox.uid,
      limits: { memory_bytes: Number.POSITIVE_INFINITY, disk_bytes: 1024 * 1024, folders: [] },
      signal: timeoutSignal(PROBE_MS),
      onLine: () => {},
    });
    return code === 0;
  } catch {
    // Switching to the user failed, or the user may not enter the folder.
    return false;
  }
}

/** Paths that programs need: no home folders, no `/var`, no `/run`, and no secrets of `/etc`. */
const SYSTEM = [
  '/usr',
  '/bin',
  '/sbin',
  '/lib',
  '/lib32',
  '/lib64',
  '/nix/store',
  '/etc/alternatives',
  '/etc/ca-certificates',
  '/etc/ca-certificates.conf',
  '/etc/group',
  '/etc/hosts',
  '/etc/ld.so.cache',
  '/etc/ld.so.conf',
  '/etc/ld.so.conf.d',
  '/etc/localtime',
  '/etc/nsswitch.conf',
  '/etc/os-release',
  '/etc/passwd',
  '/etc/pki/ca-trust',
  '/etc/pki/tls/cert.pem',
  '/etc/pki/tls/certs',
  '/etc/resolv.conf',
  '/etc/ssl/cert.pem',
  '/etc/ssl/certs',
  '/etc/ssl/openssl.cnf',
];
const TOOLS = ['node', 'npm', 'pnpm', 'yarn', 'bun', 'corepack', 'git'];

async function bwrapArguments(
  bwrap: string,
  options: SandboxOptions,
  { cwd, proxy }: { readonly cwd: string; readonly proxy: Egress | undefined },
): Promise<string[]> {
  const { server_env, readable, tmp, writable } = options;
  const tools = await Promise.all(TOOLS.map((name) => findOnPath(name, server_env['PATH'] ?? '')));
  const folders = await Promise.all(tools.filter((tool) => tool !== undefined).map(foldersOfTool));
  // `/etc/resolv.conf` often links to a file in `/run`.
  const resolver = await realpath('/etc/resolv.conf').catch(() => '/etc/resolv.conf');
  const read = [...new Set([...SYSTEM, resolver, ...folders.flat(), ...readable])];
  return [
    bwrap,
    '--die-with-parent',
    ...['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--cap-drop', 'ALL'],
    ...['--proc', '/proc', '--dev', '/dev', '--bind', tmp, '/tmp'],
    ...read.flatMap((path) => ['--ro-bind-try', path, path]),
    ...writable.flatMap((path) => ['--bind', path, path]),
    ...(proxy ? ['--unshare-net', '--ro-bind', proxy.folder, EGRESS_FOLDER] : []),
    // Only the writable folders count towards the limit of the disk.
    ...['--remount-ro', '/', '--chdir', cwd, '--'],
  ];
}

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../core/clock.ts';
import type { Ids } from '../../core/ids.ts';
import type { HostMethods, Params } from '../protocol/messages.ts';
import { removeAbandonedSockets } from './abandoned-sockets.ts';

/** Private sockets of a pool: the server's, which only its hosts may use, and one for each host. */
export interface HostSockets extends Disposable {
  /** Token that authenticates a request over these sockets. */
  readonly token: string;
  readonly server: string;
  /** Addresses for a new process. Its path is unique: a killed process leaves its socket behind. */
  forHost(app: HostedApp): HttpAccess;
}

export interface HostedApp {
  /** Begins every path of the server, such as `/agents`. */
  readonly mount_prefix?: string | undefined;
  /** The project's app, as `path:export`. */
  readonly app?: string | undefined;
}

const PREFIX = 'agent-hosts-';

type HttpAccess = Params<HostMethods, 'initialize'>['http'];

/** Unix sockets in a folder of this user; on Windows named pipes. Removes what killed servers left behind. */
export function hostSockets(ids: Ids, clock: Clock): HostSockets {
  const token = ids.secret();
  const pipes = ids.uuid4();
  const isWindows = process.platform === 'win32';
  const folder = isWindows ? undefined : mkdtempSync(join(socketRoot(), PREFIX));
  if (!isWindows) void removeAbandonedSockets(socketRoot(), PREFIX, clock.now());
  const path = (name: string) =>
    folder === undefined ? `\\\\.\\pipe\\agent-hosts-${pipes}-${name}` : join(folder, `${name}.sock`);
  const server = path('server');
  let last = 0;
  return {
    token,
    server,
    forHost({ mount_prefix = '', app }) {
      last += 1;
      return { token, server_socket: server, mount_prefix, app, app_socket: path(`host-${last}`) };
    },
    [Symbol.dispose]() {
      if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Longest path for which the system's limit for sockets (macOS: 104 bytes) leaves enough for the names. */
const MAX_ROOT_BYTES = 64;

function socketRoot(): string {
  const usual = tmpdir();
  return Buffer.byteLength(usual) <= MAX_ROOT_BYTES ? usual : '/tmp';
}

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { extname } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { HostLost } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import { withDeadline } from '../../core/timers.ts';
import type { GraphStoreAccess } from '../../graphs/store/graph-store.ts';
import {
  HOST_METHODS,
  type HostMethods,
  type Params,
  PROTOCOL_VERSION,
  type Result,
  SERVER_METHODS,
  type ServerMethods,
} from '../protocol/messages.ts';
import { Peer } from '../protocol/peer.ts';
import { Sessions, serverHandlers } from './sessions.ts';

// TypeScript in the repository, JavaScript in the package.
const PROGRAM = fileURLToPath(new URL(`../host/main${extname(import.meta.url)}`, import.meta.url));

/** Time-out of loading the project, ms: each file has one of its own, so that this one says that the host hangs. */
const INITIALIZE_MS = 300_000;

export interface HostOptions {
  /** Counts from 1; a host that replaces another takes its number. */
  readonly number: number;
  readonly project: Omit<Params<HostMethods, 'initialize'>, 'version'>;
  readonly env: NodeJS.ProcessEnv;
  readonly store: GraphStoreAccess;
  readonly logger: Logger;
}

type Listing = Result<HostMethods, 'initialize'>;

/** A process that executes graphs, and the connection to it. */
export class Host {
  readonly number: number;
  readonly sessions = new Sessions();
  readonly peer: Peer<ServerMethods, HostMethods>;
  /** Resolves when its graphs are loaded; rejects if the process ends before. */
  readonly ready: Promise<Listing>;
  /** Resolves when the process has ended, with the reason. */
  readonly ended: Promise<HostLost>;
  readonly #process: ChildProcess;
  #isReady = false;
  #hasBeenReady = false;
  #isEnding = false;

  constructor({ number, project, env, store, logger }: HostOptions) {
    this.number = number;
    this.#process = spawn(process.execPath, [...process.execArgv, PROGRAM], {
      env,
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    });
    forwardOutput(this.#process, logger);
    this.peer = new Peer(this.#process.stdio[3] as Socket, {
      ours: SERVER_METHODS,
      theirs: HOST_METHODS,
      handlers: serverHandlers(this.sessions, store, logger),
    });
    this.ended = this.#whenEnded();
    // A host that cannot be spoken to is of no use.
    void this.peer.closed.then(() => this.#process.kill('SIGKILL'));
    void this.ended.then((reason) => {
      this.peer.close(reason);
      this.sessions.fail(reason);
    });
    this.ready = this.#initialize(project);
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** Takes new work. */
  get isAvailable(): boolean {
    return this.#isReady && !this.#isEnding;
  }

  /** It had loaded the project, whatever happened then. */
  get hasBeenReady(): boolean {
    return this.#hasBeenReady;
  }

  /** Ends the process. Sessions that are open fail with a `HostLost` that charges no attempt. */
  async stop(): Promise<void> {
    this.#isEnding = true;
    this.peer.close(new HostLost('The graph host was stopped.', false));
    await this.ended;
  }

  async #initialize(project: HostOptions['project']): Promise<Listing> {
    const loading = this.peer.request('initialize', { version: PROTOCOL_VERSION, ...project });
    const listing = await withDeadline(INITIALIZE_MS, loading);
    this.#isReady = true;
    this.#hasBeenReady = true;
    return listing;
  }

  async #whenEnded(): Promise<HostLost> {
    const [code, signal] = await Promise.race([
      once(this.#process, 'exit'),
      once(this.#process, 'error').then(([error]) => [String(error), null]),
    ]);
    this.#isReady = false;
    const how = signal === null ? `with code ${code}` : `by ${signal}`;
    return new HostLost(`The graph host ended ${how}. The request can be repeated.`, !this.#isEnding);
  }
}

/** What a host writes besides its log: the last words of Node, and of native code. */
function forwardOutput({ stdout, stderr }: ChildProcess, logger: Logger): void {
  const forward = (stream: Readable | null, level: 'info' | 'warn') => {
    if (stream) createInterface(stream).on('line', (line) => line.trim() !== '' && logger[level](line));
  };
  forward(stdout, 'info');
  forward(stderr, 'warn');
}

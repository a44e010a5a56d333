import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { HostLost } from '../../core/errors.ts';
import { tryOrUndefined } from '../../core/failure.ts';
import type { Logger } from '../../core/logger.ts';
import { BUSY, type ProcessLoad } from '../../core/process-load.ts';
import { after, withDeadline } from '../../core/timers.ts';
import type { GraphHost } from '../../graphs/graph.ts';
import type { GraphStoreAccess } from '../../graphs/store/graph-store.ts';
import { CONNECTION_FD, EXIT_NOTE_FD, WATCH_FD } from '../protocol/descriptors.ts';
import { toWireError } from '../protocol/errors.ts';
import {
  HOST_METHODS,
  type HostMethods,
  type Params,
  PROTOCOL_VERSION,
  type Result,
  SERVER_METHODS,
  type ServerMethods,
} from '../protocol/messages.ts';
import { ConnectionClosed, Peer } from '../protocol/peer.ts';
import { ExitNote, type HostedRun, type HostStatus } from '../protocol/watch.ts';
import { endOf, type HostEnd, type Kill } from './host-end.ts';
import { forwardOutput } from './output.ts';
import { Sessions, serverHandlers } from './sessions.ts';
import { spawnHost } from './spawn.ts';
import { StopOrders } from './stop-orders.ts';
import { type HostWatch, watchHost } from './watch.ts';

/** Time-out of loading the project, ms: each file has its own time-out; exceeding this one means the host hangs. */
const INITIALIZE_MS = 300_000;
/** How long a host may take to exit by itself after its connection is closed, ms. */
const EXIT_MS = 1000;
/** How long a run that was told to stop, or a handler that was given up, may block its host, ms; then the host is ended. */
const MAX_BLOCKED_MS = 5000;

/** Timeout of a load request to a host, ms. */
const LOAD_MS = 100;

export interface HostOptions {
  /** Counts from 1; a host that replaces another takes its number. */
  readonly number: number;
  /** Monotonic, ms. */
  readonly started_at: number;
  readonly project: Omit<Params<HostMethods, 'initialize'>, 'version'>;
  readonly env: NodeJS.ProcessEnv;
  /** Descriptor of the lease on its runs; `undefined` if no other process can take them. */
  readonly lease_fd?: number | undefined;
  /** What the graphs use as their store. */
  readonly store: () => GraphStoreAccess;
  readonly logger: Logger;
  /** Called with each report of its watch thread. */
  readonly onStatus: () => void;
}

export type HostListing = Result<HostMethods, 'initialize'>;

/** A process that executes graphs, and the connection to it. */
export class Host {
  readonly number: number;
  readonly started_at: number;
  /** Where it serves the project's app. */
  readonly appSocket: string;
  readonly sessions = new Sessions();
  readonly peer: Peer<ServerMethods, HostMethods>;
  /** Resolves when its graphs are loaded; rejects if the process ends before. */
  readonly ready: Promise<HostListing>;
  /** Resolves when the process has ended and its sessions have failed. */
  readonly ended: Promise<HostEnd>;
  /** Runs that it was given. */
  runs = 0;
  /** Where code of the project blocks the event loop while it is loaded, as far as is known. */
  loadsAt: string | undefined;
  readonly #process: ChildProcess;
  readonly #logger: Logger;
  readonly #report: () => void;
  #status: HostStatus | undefined;
  #isReady = false;
  #servesApp = false;
  #isDraining = false;
  #hasEnded = false;
  /** Why the server is ending the process, once it is. */
  #kill: Kill | undefined;
  readonly #stopOrders = new StopOrders();
  readonly #watch: HostWatch;
  #asked: Promise<ProcessLoad> | undefined;

  /** Throws if no process can be started now. */
  constructor({ number, started_at, project, env, lease_fd, store, logger, onStatus }: HostOptions) {
    this.number = number;
    this.#report = onStatus;
    this.appSocket = project.http.app_socket;
    this.started_at = started_at;
    this.#process = spawnHost(env, lease_fd);
    this.#logger = logger.with({ host: number, ...(this.pid !== undefined && { pid: this.pid }) });
    forwardOutput(this.#process, logger.with({ host: number }));
    this.peer = new Peer(this.#pipe(CONNECTION_FD), {
      ours: SERVER_METHODS,
      theirs: HOST_METHODS,
      handlers: serverHandlers(this.sessions, store, logger.with({ host: number })),
    });
    this.#watch = watchHost(this.#pipe(WATCH_FD), {
      onStatus: (status) => this.#onStatus(status),
      onFrozen: () => this.#killNow({ reason: 'it no longer answers' }),
    });
    this.ended = this.#whenEnded();
    void this.peer.closed.then((reason) => this.#endProcess(reason));
    this.ready = this.#initialize(project);
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** Whether it has loaded the project, even if it has failed since. */
  get isReady(): boolean {
    return this.#isReady;
  }

  get isAvailable(): boolean {
    return (
      this.#isReady && !this.#hasEnded && !this.peer.isClosed && !this.#isDraining && this.#kill === undefined
    );
  }

  /** Whether it has loaded the project's app. */
  get servesApp(): boolean {
    return this.#servesApp;
  }

  /** Latest status from its watch thread. */
  get status(): HostStatus | undefined {
    return this.#status;
  }

  /** How long its event loop has been blocked, ms, as far as is known. */
  get blocked_ms(): number {
    return this.#status?.blocked_ms ?? 0;
  }

  /** Status of the host for operators. */
  view(): Omit<GraphHost, 'restarts'> {
    return {
      number: this.number,
      pid: this.pid ?? null,
      ready: this.isAvailable,
      active: this.sessions.runIds().length,
      n_runs: this.runs,
      blocked_ms: this.blocked_ms,
      memory_bytes: this.#status?.rss_bytes ?? null,
      blockedBy: this.#status?.place,
    };
  }

  /** What its event loop did since the last question; `BUSY` if it does not answer in time. */
  load(): Promise<ProcessLoad> {
    // A pending request answers this one too.
    this.#asked ??= this.peer.request('load', {}).finally(() => {
      this.#asked = undefined;
    });
    return withDeadline(LOAD_MS, this.#asked).catch(() => BUSY);
  }

  /** A run did not stop when it was told to: if it blocks the event loop, it would hold up all others. */
  cannotStop(run: HostedRun): void {
    this.#stopOrders.add(run);
  }

  /**
   * Takes the runs that `isTaken` names from it: they fail with an uncharged `HostLost`, it can write nothing for them any
   * more, and stops them as soon as its event loop turns. Returns their ids.
   */
  takeRuns(isTaken: (run_id: string) => boolean): string[] {
    const reason = new HostLost(
      'The event loop of the graph host is blocked: another host continues.',
      false,
    );
    const taken = this.sessions.take(isTaken, reason);
    if (taken.length === 0) return [];
    // The watch thread is heard at once, and the other message if that thread is late.
    this.#watch.stopRuns(taken.map(({ session }) => session));
    for (const { session } of taken) this.peer.notify('run/cancel', { session, reason: toWireError(reason) });
    this.#logger.info('other graph hosts continue the runs that wait', { runs: taken.length });
    return taken.map(({ run_id }) => run_id);
  }

  /** Stops taking new work, and hands its runs over at their next checkpoint. */
  drain(): void {
    this.#isDraining = true;
    for (const session of this.sessions.ofRuns()) this.peer.notify('run/hand_over', { session });
  }

  /** Code that belongs to no run was given up: if it blocks the event loop, nothing else would ever end that. */
  giveUp(): void {
    this.#stopOrders.add(undefined);
  }

  /** The event loop is blocked, and it is known that a run does so. */
  get isBlockedByRun(): boolean {
    return this.blocked_ms > 0 && this.#status?.place?.run_id !== undefined;
  }

  /**
   * Lets the host finish pending work, such as sending traces, then ends it. Open sessions fail, uncharged unless
   * `charges_runs`.
   */
  async stop(reason: string, drain_ms = 0, charges_runs = false): Promise<void> {
    this.#isDraining = true;
    if (drain_ms > 0 && this.#isReady && !this.#hasEnded) {
      await withDeadline(drain_ms, this.peer.request('drain', { ms: drain_ms })).catch(() => {});
    }
    this.#kill ??= { reason, is_intended: true, charges_runs };
    this.peer.close(new HostLost(`The graph host was stopped: ${reason}.`, false));
    await this.ended;
  }

  async #initialize(project: HostOptions['project']): Promise<HostListing> {
    const loading = this.peer.request('initialize', { version: PROTOCOL_VERSION, ...project });
    const listing = await withDeadline(INITIALIZE_MS, loading);
    this.#isReady = true;
    this.#servesApp = listing.app !== undefined && !('error' in listing.app);
    return listing;
  }

  /** A host without a connection is useless. If it only closed the connection, it is exiting by itself. */
  #endProcess(reason: Error): void {
    if (!(reason instanceof ConnectionClosed)) this.#kill ??= { reason: reason.message, is_intended: false };
    const timer = after(EXIT_MS, () => this.#process.kill('SIGKILL')).unref();
    void this.ended.then(() => timer[Symbol.dispose]());
  }

  #killNow(kill: Omit<Kill, 'is_intended'>): void {
    this.#kill ??= { ...kill, is_intended: false };
    this.#process.kill('SIGKILL');
  }

  async #whenEnded(): Promise<HostEnd> {
    const note = text(this.#pipe(EXIT_NOTE_FD)).catch(() => '');
    const [code, signal] = await Promise.race([
      once(this.#process, 'exit'),
      once(this.#process, 'error').then(([error]) => [String(error), null]),
    ]);
    this.#hasEnded = true;
    this.#watch[Symbol.dispose]();
    const written = await note;
    const { data } = ExitNote.safeParse(tryOrUndefined(() => JSON.parse(written)));
    const blockedBy = this.blocked_ms > 0 ? this.#status?.place : undefined;
    const end = endOf({ code, signal, note: data, blockedBy, kill: this.#kill });
    this.peer.close(end.errorFor(undefined));
    this.sessions.fail(end.errorFor);
    return end;
  }

  #onStatus(status: HostStatus): void {
    // Loading the project blocks the event loop, and nothing waits yet.
    this.loadsAt = this.#isReady ? undefined : status.place?.at;
    if (!this.#isReady) return;
    const was_blocked_ms = this.blocked_ms;
    this.#status = status;
    this.#stopOrders.onStatus(status);
    this.#noteBlocking(status, was_blocked_ms);
    this.#report();
  }

  #noteBlocking({ blocked_ms, place }: HostStatus, was_blocked_ms: number): void {
    if (blocked_ms === 0) {
      if (was_blocked_ms > 0)
        this.#logger.warn('the event loop of a graph host was blocked', { ms: was_blocked_ms });
      return;
    }
    // If it made a turn in between, this is a new block.
    if (was_blocked_ms === 0 || blocked_ms < was_blocked_ms)
      this.#logger.warn('the event loop of a graph host is blocked: its other runs wait', { ...place });
    if (blocked_ms >= MAX_BLOCKED_MS) this.#endBlocking(place);
  }

  /** Kills the host if the code that blocks it was asked to stop, or belongs to a run that continues elsewhere. */
  #endBlocking(place: HostStatus['place']): void {
    const { run_id } = place ?? {};
    const wasTaken = run_id !== undefined && this.sessions.wasTaken(run_id);
    const order = wasTaken ? { run: { ...place, run_id } } : this.#stopOrders.disobeyedAt(place);
    if (!order) return;
    const { run } = order;
    const kill =
      run === undefined
        ? { reason: `code at ${place?.at} blocks its event loop`, is_outside_runs: true }
        : { reason: `run ${run.run_id} did not stop because it blocks the event loop`, run };
    this.#killNow(kill);
  }

  #pipe(fd: number): Socket {
    return this.#process.stdio[fd] as Socket;
  }
}

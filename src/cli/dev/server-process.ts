import { type ChildProcess, fork } from 'node:child_process';
import { programFile } from '../../core/package-files.ts';
import { after } from '../../core/timers.ts';
import type { FlagValues } from '../command.ts';

export interface DevServerArguments {
  readonly flags: FlagValues;
  /** The project's root folder. */
  readonly root: string;
}

/** Messages from `dev` to a server process. Sockets from the proxy arrive on the same channel. */
export type ParentMessage =
  | { readonly type: 'serve'; readonly url: string; readonly shows_banner: boolean }
  /** The project's code has changed; a load in progress is outdated. */
  | { readonly type: 'reload' }
  | { readonly type: 'stop' };

/**
 * Messages from a server process to `dev`: `reachable`: it accepts connections; `reloads`: it can reload code itself.
 * `needs_restart`: it has, and the change needs a new process.
 */
export type ChildMessage =
  | { readonly type: 'reachable'; readonly reloads: boolean }
  | { readonly type: 'needs_restart' };

/** Time to stop, ms: a slower process executes code that never yields. Its runs resume in the next process. */
const STOP_MS = 2000;

const PROGRAM = programFile('cli/dev/dev-server');

/** One server process of `dev`. Only a new process can reload changed modules. */
export class ServerProcess {
  readonly child: ChildProcess;
  /** Exit code; null if killed by a signal. */
  readonly ended: Promise<number | null>;
  /** Resolves when a change that it has loaded needs a new process. */
  readonly needsRestart: Promise<void>;
  readonly #reachable: Promise<true>;
  #reloads = false;

  /** The process preloads, but does not load the project or open its data before `serve`. */
  constructor(given: DevServerArguments) {
    this.child = fork(PROGRAM, [JSON.stringify(given)], { stdio: 'inherit' });
    this.ended = new Promise((resolve) => {
      this.child.once('exit', resolve);
      // A process that failed to spawn emits no `exit`.
      this.child.once('error', () => this.child.pid === undefined && resolve(1));
    });
    const reachable = Promise.withResolvers<true>();
    const needsRestart = Promise.withResolvers<void>();
    this.#reachable = reachable.promise;
    this.needsRestart = needsRestart.promise;
    this.child.on('message', (message: ChildMessage) => {
      if (message.type === 'needs_restart') return needsRestart.resolve();
      this.#reloads = message.reloads;
      reachable.resolve(true);
    });
    // Sending to an exited process fails; `ended` reports the exit.
    this.child.on('error', () => {});
  }

  get alive(): boolean {
    return this.child.connected;
  }

  /** `shows_banner`: stdout is a terminal. Resolves to true when it accepts connections, to false if it exits first. */
  async serve(url: string, shows_banner: boolean): Promise<boolean> {
    this.#send({ type: 'serve', url, shows_banner });
    return await Promise.race([this.#reachable, this.ended.then(() => false)]);
  }

  /** Starts to load a change without a new process. Returns false if it cannot. */
  reload(): boolean {
    if (!this.#reloads || !this.alive) return false;
    this.#send({ type: 'reload' });
    return true;
  }

  async stop(): Promise<void> {
    this.#send({ type: 'stop' });
    using _overdue = after(STOP_MS, () => this.child.kill('SIGKILL'));
    await this.ended;
  }

  #send(message: ParentMessage): void {
    if (this.alive) this.child.send(message);
  }
}

import { type ChildProcess, fork } from 'node:child_process';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { after } from '../../core/timers.ts';
import type { ServeOptions } from '../../node.ts';
import type { FlagValues } from '../command.ts';

export interface DevServerArguments {
  readonly flags: FlagValues;
  /** The folder of the project. */
  readonly root: string;
  /** The file in which the process names the node that ended it, as JSON of a `FaultyNode`. */
  readonly faulty_node_file: string;
}

/** A run that ended the process before, and what it failed with. */
export type CrashedRun = NonNullable<ServeOptions['blamed']>;

/** What `dev` tells the process that serves. Connections come beside these, from the front door. */
export type ParentMessage =
  | {
      readonly type: 'serve';
      readonly url: string;
      readonly shows_banner: boolean;
      readonly blamed?: CrashedRun;
    }
  | { readonly type: 'stop' };

/** What that process tells `dev`: from now on it takes connections. */
export type ChildMessage = { readonly type: 'reachable' };

/** A process that does not stop in this time executes code that never yields. Its runs resume in the next one. */
const STOP_MS = 2000;

// The same folder and ending as this file: TypeScript in the repository, JavaScript in the package.
const PROGRAM = fileURLToPath(new URL(`./dev-server${extname(import.meta.url)}`, import.meta.url));

/** One server process of `dev`. A new process per change is the only way to load changed modules anew. */
export class ServerProcess {
  readonly child: ChildProcess;
  readonly given: DevServerArguments;
  /** The exit code, or null when it was killed. */
  readonly ended: Promise<number | null>;

  /** The process gets ready, but reads no project and touches no data before `serve`. */
  constructor(given: DevServerArguments) {
    this.given = given;
    this.child = fork(PROGRAM, [JSON.stringify(given)], { stdio: 'inherit' });
    this.ended = new Promise((resolve) => {
      this.child.once('exit', resolve);
      // One that could not even be started has no exit.
      this.child.once('error', () => this.child.pid === undefined && resolve(1));
    });
    // From a message to a process that has just ended; `ended` tells.
    this.child.on('error', () => {});
  }

  get alive(): boolean {
    return this.child.connected;
  }

  /** `greets`: people at a terminal. Resolves to true when it takes connections, to false when it ended before. */
  async serve(url: string, shows_banner: boolean, blamed?: CrashedRun): Promise<boolean> {
    const reachable = new Promise<true>((resolve) => this.child.once('message', () => resolve(true)));
    this.#send({ type: 'serve', url, shows_banner, ...(blamed && { blamed }) });
    return await Promise.race([reachable, this.ended.then(() => false)]);
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

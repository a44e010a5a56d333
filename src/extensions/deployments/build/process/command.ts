import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { every, sleep } from '../../../../core/timers.ts';
import { endProcesses, MARKER, type ProcessOwner } from './end-processes.ts';
import { CommandOutput, captured } from './output.ts';
import { type Stop, stopOf } from './stops.ts';
import { diskUsage, familyOf, processes, tasksOf } from './usage.ts';

export interface Command {
  readonly argv: readonly string[];
  readonly cwd: string;
  /** The complete environment: nothing is inherited from the server. */
  readonly env: Readonly<Record<string, string>>;
  /** User to run as; default: the server's. */
  readonly uid?: number | undefined;
  readonly limits: CommandLimits;
  /** Kills the command when it aborts; a `TimeoutError` counts as the time limit. */
  readonly signal: AbortSignal;
  /** Input on file descriptor 3, for secrets: arguments and environment variables are visible to other processes. */
  readonly pipe?: string | undefined;
  /** Collects stdout instead of logging it. */
  readonly captures?: boolean | undefined;
  readonly onLine: (line: string) => void;
}

interface CommandLimits {
  readonly memory_bytes: number;
  /** Maximum size of each file, and of what the command adds to `folders` in total, bytes. */
  readonly disk_bytes: number;
  readonly folders: readonly string[];
  /** Maximum number of concurrent processes, counting threads. Default: unlimited. */
  readonly tasks?: number | undefined;
  /** Size of `folders` before the build, bytes. Default: their size when the command starts. */
  readonly disk_before?: number | undefined;
}

export interface CommandEnd {
  /** Exit code; `null` if a signal killed the process. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Why the server killed it. */
  readonly stopped?: Stop | undefined;
  /** The end of its output. */
  readonly output: string;
  /** Only with `captures`. */
  readonly stdout: string;
}

/**
 * POSIX: `ulimit -f` counts blocks of 512 bytes. Core dumps are disabled, because they would contain memory. The
 * process limit is `-u` in some shells and `-p` in others; a lower limit of the machine stays in force.
 */
const PRELUDE =
  'umask 077; ulimit -c 0; ulimit -f "$1"; ulimit -u "$2" 2>/dev/null || ulimit -p "$2" 2>/dev/null; shift 2; exec nice -n 10 "$@"';
const BLOCK_BYTES = 512;
/** Interval at which memory and disk are measured, ms. */
const MEASURE_MS = 500;
/** How long pipes may stay open after all processes were killed, ms. */
const CLOSE_MS = 2000;

/**
 * Runs a command in its own process group, and kills whatever it leaves behind. Rejects if it cannot be started; the
 * caller judges how it ended.
 */
export async function runCommand(command: Command): Promise<CommandEnd> {
  const { signal } = command;
  if (signal.aborted) return { code: null, signal: null, stopped: stopOf(signal), output: '', stdout: '' };
  const before = command.limits.disk_before ?? (await diskUsage(command.limits.folders));
  const child = start(command, await taskLimit(command));
  const output = new CommandOutput(command.onLine);
  const stdout = command.captures ? captured(child.stdout as Readable) : undefined;
  if (!stdout) output.follow(child.stdout as Readable);
  output.follow(child.stderr as Readable);
  const closed = once(child, 'close');
  const exited = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  // Awaited below, unless the process fails to start.
  closed.catch(() => {});
  const owner: ProcessOwner = { pid: child.pid as number, uid: command.uid, marker: markerOf(command.env) };
  const watch = watchLimits(command, before, owner);
  try {
    const [code, signalName] = await exited;
    await endProcesses(owner);
    await Promise.race([closed, sleep(CLOSE_MS)]);
    output.end();
    return {
      code,
      signal: signalName,
      stopped: watch.stopped(),
      output: output.tail,
      stdout: stdout?.() ?? '',
    };
  } finally {
    watch[Symbol.dispose]();
    for (const stream of child.stdio) stream?.destroy();
  }
}

/**
 * Hard limit of the kernel. It counts all processes of a user, so the server's are added to the build's. It is twice
 * the measured limit: at that limit the build is killed with an explanation, whereas here only `fork` fails. The kernel
 * does not limit root.
 */
async function taskLimit({ limits: { tasks }, uid }: Command): Promise<string> {
  if (tasks === undefined) return 'unlimited';
  const others =
    uid === undefined ? (await processes()).filter((entry) => entry.uid === process.getuid?.()) : [];
  return String(2 * tasks + tasksOf(others));
}

function start({ argv, cwd, env, uid, limits, pipe }: Command, tasks: string): ChildProcess {
  const blocks = String(Math.ceil(limits.disk_bytes / BLOCK_BYTES));
  const child = spawn('/bin/sh', ['-c', PRELUDE, 'sh', blocks, tasks, ...argv], {
    cwd,
    env,
    // Creates a new session and process group.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', pipe === undefined ? 'ignore' : 'pipe'],
    ...(uid !== undefined && { uid, gid: uid }),
  });
  if (pipe !== undefined) {
    const input = child.stdio[3] as Writable;
    // A command that exits without reading its input breaks the pipe.
    input.on('error', () => {});
    input.end(pipe);
  }
  return child;
}

function markerOf(env: Readonly<Record<string, string>>): string | undefined {
  return env[MARKER] && `${MARKER}=${env[MARKER]}`;
}

/** Kills the processes of a command at its limits, and when its signal aborts. */
function watchLimits({ limits, signal }: Command, disk_before: number, owner: ProcessOwner) {
  let stopped: Stop | undefined;
  let isMeasuring = false;
  const stop = (reason: Stop) => {
    stopped ??= reason;
    void endProcesses(owner);
  };
  const onAbort = () => stop(stopOf(signal));
  const measure = async () => {
    const all = await processes();
    const own =
      owner.uid === undefined ? familyOf(owner.pid, all) : all.filter(({ uid }) => uid === owner.uid);
    // Shared pages count once per process: the sum is an upper bound.
    const memory = own.reduce((sum, { rss_bytes }) => sum + rss_bytes, 0);
    if (memory > limits.memory_bytes) return stop('memory_limit');
    if (limits.tasks !== undefined && tasksOf(own) > limits.tasks) return stop('process_limit');
    const disk = (await diskUsage(limits.folders)) - disk_before;
    if (disk > limits.disk_bytes) stop('disk_limit');
  };
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  const timer = every(MEASURE_MS, () => {
    if (isMeasuring || stopped) return;
    isMeasuring = true;
    void measure().finally(() => {
      isMeasuring = false;
    });
  });
  return {
    stopped: () => stopped,
    [Symbol.dispose]() {
      timer[Symbol.dispose]();
      signal.removeEventListener('abort', onAbort);
    },
  };
}

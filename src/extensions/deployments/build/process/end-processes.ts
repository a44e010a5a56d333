import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { sleep } from '../../../../core/timers.ts';
import { familyOf, processes, withVariable } from './usage.ts';

/** Identifies the processes to kill. */
export interface ProcessOwner {
  /** The process that was started, the leader of its group. */
  readonly pid: number;
  /** A user that runs nothing else: all of its processes are killed. */
  readonly uid?: number | undefined;
  /** `NAME=value` in the environment of all these processes. */
  readonly marker?: string | undefined;
}

/** Environment variable that identifies processes which left their group; its value is a folder of the build. */
export const MARKER = 'AGENT_SERVER_BUILD';

/** Several rounds, because processes may start others while they are being killed. */
const ROUNDS = 20;
const ROUND_MS = 10;

/**
 * Kills the processes of a command: its group, those that left the group and, if the command has its own user, all
 * processes of that user.
 */
export async function endProcesses(owner: ProcessOwner): Promise<void> {
  kill(-owner.pid);
  if (owner.uid !== undefined) return await endUser(owner.uid);
  for (let round = 0; round < ROUNDS; round++) {
    const left = await leftovers(owner);
    if (left.length === 0) return;
    for (const pid of left) kill(pid);
    await sleep(ROUND_MS);
  }
}

/**
 * Kills the builds that a killed server left in this folder: without bubblewrap they outlive it, and would write into
 * the next builds.
 */
export async function endBuildsIn(folder: string): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    const all = (await processes()).filter(({ pid }) => pid !== process.pid);
    const left = await withVariable(all, (variable) => variable.startsWith(`${MARKER}=${folder}/`));
    if (left.length === 0) return;
    for (const { pid } of left) kill(pid);
    await sleep(ROUND_MS);
  }
}

/**
 * Kills all processes of a user other than the server's. The kernel signals all of them at once, so none can escape.
 */
export async function endUser(uid: number): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    const all = await processes();
    if (round > 0 && !all.some((entry) => entry.uid === uid)) return;
    const killer = spawn('/bin/sh', ['-c', 'kill -9 -1'], { uid, gid: uid, stdio: 'ignore', env: {} });
    // The killer is killed by its own signal too. If switching to the user fails, the user has no processes either.
    await once(killer, 'exit').catch(() => {});
  }
}

async function leftovers({ pid, marker }: ProcessOwner): Promise<number[]> {
  const all = await processes();
  const pids = new Set(familyOf(pid, all).map((entry) => entry.pid));
  const others = marker === undefined ? [] : all.filter((entry) => !pids.has(entry.pid));
  for (const entry of await withVariable(others, (variable) => variable === marker)) pids.add(entry.pid);
  return [...pids].filter((each) => each !== process.pid);
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has exited meanwhile.
  }
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { sleep } from '../../core/timers.ts';
import { familyOf, processes, withVariable } from './usage.ts';

/** Whose processes are to be ended. */
export interface ProcessOwner {
  /** The process that was started; it leads its group. */
  readonly pid: number;
  /** A user that runs nothing else: every process of it is ended. */
  readonly uid?: number | undefined;
  /** `NAME=value` in the environment of all its processes. */
  readonly marker?: string | undefined;
}

/** Variable by which processes are recognized that have left their group: a folder of the build. */
export const MARKER = 'AGENT_SERVER_BUILD';

/** Processes that start others while they are ended need several rounds. */
const ROUNDS = 20;
const ROUND_MS = 10;

/** Ends the processes of a command: its group, what has left the group, and with a user of its own all of that user. */
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
 * Ends what builds in this folder have left of a server that was killed: without bubblewrap they outlive it, and would
 * write into the builds of the next one.
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

/** Ends all processes of a user that is not the server's. The kernel sends the signal to all at once: none escapes. */
export async function endUser(uid: number): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    const all = await processes();
    if (round > 0 && !all.some((entry) => entry.uid === uid)) return;
    const killer = spawn('/bin/sh', ['-c', 'kill -9 -1'], { uid, gid: uid, stdio: 'ignore', env: {} });
    // Its own signal ends it too. A user that cannot be taken on has no processes either.
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
    // It has ended since.
  }
}

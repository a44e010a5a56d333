import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { sleep } from '../../core/timers.ts';

/** The kernel closes the connections of a process a moment before its children get another parent. */
const PARENT_END_MS = 100;

/** Removes the folder of the sockets if the server was killed: else it does so itself. `parent`: its process. */
export async function removeSocketsOfDead(parent: number, server_socket: string): Promise<void> {
  if (process.platform === 'win32') return;
  await sleep(PARENT_END_MS);
  if (process.ppid !== parent) rmSync(dirname(server_socket), { recursive: true, force: true });
}

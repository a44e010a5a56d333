import type { LogEntry } from '../support/server.ts';
import type { ChaosServer } from './server.ts';

/**
 * Lines of the log that say that something is wrong. Two are not counted yet: a run that is rolled back in the moment
 * in which it begins fails for want of what was removed, and LangGraph does not look at a checkpoint that was refused
 * before the graph has stopped.
 */
export async function complaints(...servers: readonly ChaosServer[]): Promise<LogEntry[]> {
  const found: LogEntry[] = [];
  for (const server of servers) {
    for (const entry of server.process.log) {
      if (entry.level === 'error' && !isRefusedWrite(entry) && !(await isOfGoneRun(server, entry))) {
        found.push(entry);
      }
    }
  }
  return found;
}

function isRefusedWrite({ message, error }: LogEntry): boolean {
  return message === 'unhandled rejection outside of any run' && String(error).startsWith('LeaseLost');
}

async function isOfGoneRun({ http }: ChaosServer, { run_id }: LogEntry): Promise<boolean> {
  if (run_id === undefined) return false;
  return (await http.send('GET', `/runs/${run_id}/explain`)).status === 404;
}

import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ifMissing } from './build-files.ts';
import { buildLog, type LogFile, serverLog } from './log-file.ts';

export type LogKind = 'build' | 'deploy';

/** How far the clock of a file system may lag, ms. */
const CLOCK_TICK_MS = 1000;

export interface StoredLog {
  readonly revision_id: string;
  /** Upper bound of the times of its lines, epoch ms. */
  readonly written_at: number;
}

/** File name of a revision's log; with a numeric suffix if the log has several files. */
const LOG_FILE = /^(.+)\.(build|deploy)\.jsonl(?:\.\d+)?$/;

/** Logs of deployments. `home`: folder of a deployment. */
export function logFiles(home: (name: string) => string) {
  const logs = (name: string) => join(home(name), 'logs');

  return {
    log(name: string, revision_id: string, kind: LogKind): LogFile {
      const path = join(logs(name), `${revision_id}.${kind}.jsonl`);
      return kind === 'build' ? buildLog(path) : serverLog(path);
    },

    /** The logs of this kind, unordered. */
    async logged(name: string, kind: LogKind): Promise<StoredLog[]> {
      const found = new Map<string, number>();
      for (const file of await readdir(logs(name)).catch(ifMissing([]))) {
        const [, revision_id = '', kindOfFile] = LOG_FILE.exec(file) ?? [];
        if (kindOfFile !== kind) continue;
        const written_at = await stat(join(logs(name), file)).then(({ mtimeMs }) => mtimeMs, ifMissing(0));
        found.set(revision_id, Math.max(written_at + CLOCK_TICK_MS, found.get(revision_id) ?? 0));
      }
      return [...found].map(([revision_id, written_at]) => ({ revision_id, written_at }));
    },

    /** Deletes the logs of all revisions except the newest `count` and these. */
    async keepLogs(name: string, count: number, revision_ids: ReadonlySet<string>): Promise<void> {
      const files = await readdir(logs(name)).catch(ifMissing([]));
      const idOf = (file: string) => LOG_FILE.exec(file)?.[1];
      // Revision ids sort by time.
      const newest = [...new Set(files.flatMap((file) => idOf(file) ?? []))].sort().slice(-count);
      for (const file of files) {
        const id = idOf(file);
        if (id !== undefined && !newest.includes(id) && !revision_ids.has(id))
          await rm(join(logs(name), file), { force: true });
      }
    },
  };
}

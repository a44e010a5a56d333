import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ifMissing } from './build-files.ts';
import { buildLog, type LogFile, serverLog } from './log-file.ts';

export type LogKind = 'build' | 'deploy';

/** Of a revision; with a number at its end if the log has several files. */
const LOG_FILE = /^(.+)\.(build|deploy)\.jsonl(?:\.\d+)?$/;

/** Logs of deployments. `home`: folder of a deployment. */
export function logFiles(home: (name: string) => string) {
  const logs = (name: string) => join(home(name), 'logs');

  return {
    log(name: string, revision_id: string, kind: LogKind): LogFile {
      const path = join(logs(name), `${revision_id}.${kind}.jsonl`);
      return kind === 'build' ? buildLog(path) : serverLog(path);
    },

    /** The revisions that have a log of this kind. */
    async logged(name: string, kind: LogKind): Promise<string[]> {
      const files = await readdir(logs(name)).catch(ifMissing([]));
      const ids = files.flatMap((file) => {
        const [, revision_id = '', kindOfFile] = LOG_FILE.exec(file) ?? [];
        return kindOfFile === kind ? [revision_id] : [];
      });
      return [...new Set(ids)];
    },
  };
}
